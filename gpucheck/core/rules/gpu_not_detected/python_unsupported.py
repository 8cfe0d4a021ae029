"""This Python is outside the range that TensorFlow supports.

Symptom:
    ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)
    ERROR: No matching distribution found for tensorflow
    ERROR: Package 'tensorflow' requires a different Python: 3.8.10 not in '>=3.9'
Cause:
    Each TensorFlow release is built for some Python versions; a new Python is supported from the next release on, and old ones
    are dropped. TensorFlow needs CPython: there are no packages for PyPy.
Verify:
    python --version is within the range of the table in TensorFlow's installation guide.
Unless:
    You built TensorFlow for this Python yourself and it works.
Example:
    interpreter.version = "3.14.0"
    packages = {}
    libraries = {}
    tensorflow = {"imported": false, "error_type": "ModuleNotFoundError", "error": "No module named 'tensorflow'"}
    keras = {"imported": false, "error_type": "ModuleNotFoundError", "error": "No module named 'keras'"}
    training.runs = []
    -> No known TensorFlow release has packages for Python 3.14.0: 2.21 is for Python 3.10 to 3.13.
References:
    https://www.tensorflow.org/install/pip
"""

import re

from msgspec.structs import replace

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, rule, saw
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.context import Context
from gpucheck.core.system.shells import word

_RECOMMENDED = "3.12"
_WHEEL = r"(?P<name>\w+)-(?P<version>\d[\w.]*)-cp3(?P<minor>\d+)-"
# TensorFlow before the table of releases -> the newest Python that it supports (tensorflow.org/install/source).
_BEFORE = (("2.11", _RECOMMENDED), ("2.8", "3.10"), ("2.5", "3.9"), ("2.2", "3.8"), ("1.13", "3.7"), ("1.0", "3.6"))
_BEFORE_MANYLINUX_2010 = ("1.14.0", "2.0.0a0", "2.0.0b0", "2.0.0b1")  # the last releases that pip before 19 offers
# Companion packages of TensorFlow have fewer wheels: their releases since 2022 have some for Python 3.10, TFX's since 1.14.
_COMPANIONS = re.compile(r"(?P<tfx>tfx|ml-metadata|tensorflow-data-validation)|tensorflow-(?!cpu$|gpu$|intel$|macos$)|tflite-")
_CONDA_ONLY = ("3.6", "3.7")  # which uv does not have


@rule(
    scope=Scope.ENVIRONMENT,
    explains=(
        "tensorflow-not-installed",
        "tensorflow-import-failed",
        "gpus-not-listed",
        "training-failed",
        "training-crashed",
    ),
    tensorflow=True,
    first_check="python --version",
)
def check(
    interpreter: Interpreter, packages: Packages, tensorflow: TensorFlow | None, outcomes: TrainingOutcomes, context: Context
) -> Finding | None:
    """Report a Python outside the installed TensorFlow's range; without one, a Python that no release has packages for."""
    if tensorflow is not None and tensorflow.imported:
        return None  # a successful import shows support
    python = f"Python {interpreter.version}"
    if interpreter.implementation.lower() != "cpython":
        return _finding(
            packages,
            context,
            f"TensorFlow has no packages for {interpreter.implementation} ({python}): it needs CPython.",
            saw(interpreter, "implementation", "version"),
        )
    evidence = (*saw(interpreter, "version"), *outcomes.saw_events("pip-no-matching-distribution"))
    installed, required = packages.tensorflow, packages.tensorflow_requires_python
    if installed is not None:
        if not required or versions.satisfies(interpreter.version, required) is not False:
            return None
        return _finding(
            packages,
            context,
            f"{installed.name} {installed.version} needs Python {required}, but this is {python}.",
            (*evidence, *saw(packages, "tensorflow.version", "tensorflow_requires_python")),
        )
    if not versions.parse(interpreter.version) or releases.for_python(interpreter.version) is not None:
        return None
    newest = releases.RELEASES[releases.LATEST]
    return _finding(
        packages,
        context,
        f"No known TensorFlow release has packages for {python}: {newest.minor} is for Python {newest.python_min} to"
        f" {newest.python_max}.",
        evidence,
    )


def _finding(packages: Packages, context: Context, summary: str, evidence: tuple[Evidence, ...]) -> Finding:
    tensorflow = packages.tensorflow
    version = f"=={tensorflow.version}" if tensorflow is not None else ""
    needed = packages.tensorflow_requires_python or ""
    return Finding(summary=summary, evidence=evidence, fix=repairs(context, version=version, needed=needed))


def repairs(
    context: Context, *, package: str = "", version: str = "", available: str = "", needed: str = "", file: str = ""
) -> Fixes:
    """Create an environment with a Python that the package supports.

    Args:
        context: what is known about the machine.
        package: the package that could not be installed; empty for TensorFlow.
        version: the requested version: "==2.10.0"; empty for any.
        available: the versions for this Python: "2.16.1 to 2.20.0", "none".
        needed: the Python versions that the package supports: ">=3.9".
        file: the wheel that was refused: "tensorflow-2.10.0-cp310-cp310-win_amd64.whl".
    """
    wheel = re.search(_WHEEL, file)
    name, version = (wheel["name"].replace("_", "-"), f"=={wheel['version']}") if wheel else (package or "tensorflow", version)
    required = f"3.{wheel['minor']}" if wheel else _python(name, version, needed)
    text = f"Create an environment with Python {required}, which {name}{version} supports"
    own = Fix(text=text, command=context.new_environment(f"{name}{version}", python=required))
    install = f"conda run -n tensorflow python -m pip install {word(f'{name}{version}')}"
    by_conda = Fix(text=f"{text}, with conda", command=f"conda create -y -n tensorflow python={required} && {install}")
    managed = context.manager and not (context.manager == "uv" and required in _CONDA_ONLY)
    with_conda = not managed and context.interpreter is None
    if available.rpartition(" to ")[2] in _BEFORE_MANYLINUX_2010 and versions.at_least(version.lstrip("=<>!~ ") or "2", "1.15"):
        yield Fix(
            text="Update pip, which is too old for packages of TensorFlow 1.15 and later", command=context.pip("--upgrade", "pip")
        )
    yield by_conda if with_conda and required in _CONDA_ONLY else own
    newest = available.rpartition(" to ")[2]
    if version and newest[:1].isdigit() and re.fullmatch(r"[\d.]+", newest):
        yield Fix(text="Or install the newest release for this Python", command=context.pip(f"{name}=={newest}"))
    yield from (replace(by_conda, text="Or with conda"),) if with_conda and required not in _CONDA_ONLY else ()
    if available in ("", "none") and not (needed or wheel) and context.interpreter is None:
        yield Fix.look("Check the Python version, and whether it is a 64-bit build", f"{context.python} -VV")


def _python(package: str, version: str, needed: str) -> str:
    """Return the newest Python that the release supports, as far as known."""
    if below := re.search(r"<\s*3\.(\d+)", needed):
        return f"3.{int(below[1]) - 1}"
    number = version.lstrip("=<>!~ ")
    if companion := _COMPANIONS.match(package):
        return "3.9" if companion["tfx"] and versions.at_least("1.13", number or "9") else "3.10"
    release = releases.release(number) if package.startswith("tensorflow") and version[:1] in "=~<" else None
    if release is not None:
        return min(_RECOMMENDED, release.python_max, key=versions.parse)
    if package.startswith("tensorflow") and versions.parse(number) and version[:1] in "=~<":
        return next((python for first, python in _BEFORE if versions.at_least(number, first)), _RECOMMENDED)
    return _RECOMMENDED
