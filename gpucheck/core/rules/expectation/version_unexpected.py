"""The version of the driver, CUDA, cuDNN, TensorFlow, Keras or Python is not the expected one.

Symptom:
    - gpucheck --expect expected.toml: Keras is 3.14.0, expected ==3.15.*.
    - The same script gives different results, or trains at a different speed, since the image was rebuilt
Cause:
    An unpinned requirement, a rebuilt image, an upgraded host or another virtual environment brought a different version. That
    version is not wrong by itself, but it is not the one that was known to work.
Verify:
    gpucheck --quick --expect expected.toml: "No fault found".
Unless:
    The change is intended: change the specifier, or take the snapshot again.
Example:
    request.expectations.versions.keras = "<3.15"
    -> Keras is 3.15.1, expected <3.15.
References:
    https://packaging.python.org/en/latest/specifications/version-specifiers/
    https://www.tensorflow.org/install/source#gpu
"""

from gpucheck.core.combiners.expected import Expected
from gpucheck.core.expectations.items import Item
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.expectation._judge import SNAPSHOT, judge

_DISTRIBUTIONS = {"TensorFlow": "tensorflow", "Keras": "keras", "cuDNN": "nvidia-cudnn"}


@rule(scope=Scope.ENVIRONMENT)
def check(expected: Expected, context: Context) -> Finding | Skip | None:
    """Compare versions: imported ones if known, else installed ones."""

    def of(unmet: list[Item]) -> Fixes:
        packages = {_distribution(context, item.what): item.expected for item in unmet}
        others = [f"{item.what.removeprefix('the ')} {item.expected}" for item in unmet if not _distribution(context, item.what)]
        requirements = "\n".join(f"{name}{version}" for name, version in packages.items() if name)
        return repairs(context, packages=requirements, others=" and ".join(others))

    return judge(expected, expected.version, " is", of)


def _distribution(context: Context, what: str) -> str:
    """Return the package's name for pip; "" if pip does not install it, or it is missing."""
    name = _DISTRIBUTIONS.get(what, "")
    if what == "cuDNN":
        return next((one for one in context.installed if one.startswith(name)), "")
    return name


def repairs(context: Context, *, packages: str = "", others: str = "") -> Fixes:
    """Install the expected versions.

    Args:
        context: what is known about the machine.
        packages: requirements for pip, one per line: "keras==3.15.*".
        others: components that pip does not install: "NVIDIA driver >=590".
    """
    if packages:
        yield Fix(text="Install the expected versions", command=context.pip(*packages.splitlines()))
    elif not others:
        yield Fix(text="Install the expected versions, for example", command=context.pip("keras==3.15.*"))
    if others or not packages:
        yield Fix(text=f"Run on a machine, or in an image, that has {others or 'the expected versions'}")
    yield SNAPSHOT
    yield Fix.look("See everything that changed", "gpucheck compare expected.toml")
