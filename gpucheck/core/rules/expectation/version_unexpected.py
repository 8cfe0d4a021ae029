"""The driver, CUDA, cuDNN, TensorFlow, Keras or Python has another version than was expected of this machine.

Symptom:
    - gpucheck --expect expected.toml: Keras is 3.14.0, where ==3.15.* was expected.
    - The same script trains to other results, or at another speed, since the image was built again
Cause:
    A requirement without a pin, a rebuilt image, an upgraded host or another virtual environment brought another version. None of
    them is wrong by itself: it is not the one that was known to be good.
Fix:
    1. Install what is expected
       $ python -m pip install "keras==3.15.*"
    2. For the driver and its CUDA, bring the host to the fleet's version, or run where it is
    3. See everything that changed
       ? gpucheck compare expected.toml
Verify:
    gpucheck --quick --expect expected.toml: "No fault found".
Unless:
    The change was meant: change the specifier, or take the snapshot again.
Example:
    request.expectations.versions.keras = "<3.15"
    -> Keras is 3.15.1, where <3.15 was expected.
References:
    https://packaging.python.org/en/latest/specifications/version-specifiers/
    https://www.tensorflow.org/install/source#gpu
"""

from gpucheck.core.combiners.expected import Expected
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.repairs.commands import pip
from gpucheck.core.rules.expectation._judge import judge

_DISTRIBUTIONS = {"TensorFlow": "tensorflow", "Keras": "keras"}


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT)
def check(expected: Expected, interpreter: Interpreter | None) -> Finding | Skip | None:
    """What was imported counts before what is installed."""
    unmet = {item.what: item.expected for item in expected.version if item.met is False}
    wanted = [f"{_DISTRIBUTIONS[name]}{version}" for name, version in unmet.items() if name in _DISTRIBUTIONS]
    fixes = []
    if wanted and interpreter is not None:
        fixes.append(Fix(text="Install what is expected", command=pip(interpreter, *wanted)))
    if unmet.keys() - _DISTRIBUTIONS.keys():
        fixes.append(Fix(text="Run on a machine, or in an image, that has what is expected"))
    return judge(expected, expected.version, " is", *fixes)
