"""The retired package tensorflow-gpu is installed.

Symptom:
    The "tensorflow-gpu" package has been removed!
    ERROR: Could not find a version that satisfies the requirement tensorflow-gpu
    - pip list shows both tensorflow and tensorflow-gpu
Cause:
    Since TensorFlow 2.1 the package tensorflow contains the GPU code; tensorflow-gpu was discontinued after 2.11, and its 2.12.0
    is an empty notice. If both are installed, they overwrite each other's files.
Verify:
    pip list shows tensorflow, and no tensorflow-gpu.
Unless:
    An old project pins tensorflow-gpu 2.11 or older, alone in its environment, and gpucheck trains with it.
Example:
    packages.flavours = [{"name": "tensorflow", "version": "2.21.0", "folder": "/home/user/.venv/lib/python3.12/site-packages"}, {"name": "tensorflow-gpu", "version": "2.10.1", "folder": "/home/user/.venv/lib/python3.12/site-packages"}]
    -> tensorflow-gpu 2.10.1, a package that was discontinued in 2022, is installed with tensorflow 2.21.0, and their files overwrite each other.
References:
    https://pypi.org/project/tensorflow-gpu/
"""

from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context


@rule(
    severity=Severity.WARNING,
    scope=Scope.ENVIRONMENT,
    explains=("tensorflow-import-failed", "tensorflow-not-installed", "python-unsupported"),
    tensorflow=True,
    first_check="the name of the package that is requested",
)
def check(packages: Packages, context: Context) -> Finding | None:
    """Report the package tensorflow-gpu; an error if it is the only one, and contains no TensorFlow."""
    place = next((place for place, package in enumerate(packages.flavours) if package.name == "tensorflow-gpu"), None)
    if place is None:
        return None
    old = packages.flavours[place]
    others = [f"{package.name} {package.version}" for package in packages.flavours if package.name != old.name]
    if others:
        state = f", is installed with {listing(others)}, and their files overwrite each other."
    elif packages.tensorflow_folder is None:
        state = ", is installed, but does not contain TensorFlow."
    else:
        state = ", is installed; later releases are only called tensorflow."
    return Finding(
        summary=f"tensorflow-gpu {old.version}, a package that was discontinued in 2022{state}",
        evidence=saw(packages, f"flavours[{place}].name", f"flavours[{place}].version", "tensorflow_folder"),
        fix=repairs(context),
        severity=Severity.ERROR if not others and packages.tensorflow_folder is None else None,
    )


def repairs(context: Context, *, version: str = "") -> Fixes:
    """Install tensorflow, which has the GPU code, in its place.

    Args:
        context: what is known about the machine.
        version: the requested version: "==2.15"; empty for any.
    """
    release = releases.release(version.lstrip("=<>!~ ")) if version.startswith("=") else None
    if context.windows:
        old = context.new_environment("tensorflow==2.10.*", "numpy<2", python="3.10")
        yield Fix(text="Install tensorflow in its place: 2.10, the last with GPU support on native Windows", command=old)
    elif context.interpreter is None and release is not None:
        name = f"tensorflow{'[and-cuda]' if release.and_cuda else ''}=={release.minor}.*"
        yield Fix(text="Install the same release of tensorflow, which has the GPU code", command=context.pip(name))
    else:
        yield context.with_cuda(instead_of=("tensorflow-gpu", "tensorflow") if context.interpreter is not None else ())
    if context.interpreter is None:
        yield Fix(
            text="Write tensorflow instead of tensorflow-gpu in requirements.txt or setup.py, including those of packages that need it"
        )
