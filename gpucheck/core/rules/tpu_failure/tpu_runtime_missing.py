"""The machine has a TPU, but the installed TensorFlow has no runtime for it.

Symptom:
    A Google TPU may be present on this machine, but either a TPU-enabled jaxlib or libtpu is not installed.
    - NotFoundError: TPU system not found, on a TPU VM
Cause:
    The plain tensorflow package no longer supports TPU VMs: that support moved to the package tensorflow-tpu, which uses the
    library libtpu to talk to the chip. One of them is not installed.
Verify:
    gpucheck --quick shows tensorflow-tpu and libtpu.
Unless:
    You train with JAX, which brings its own runtime.
Example:
    machine: tpu-v5e
    packages.tensorflow = {"name": "tensorflow", "version": "2.21.0", "folder": "/home/user/.venv/lib/python3.12/site-packages"}
    packages.flavours = [{"name": "tensorflow", "version": "2.21.0", "folder": "/home/user/.venv/lib/python3.12/site-packages"}]
    packages.keras_requirement = ">=3.12.0"
    packages.libtpu = null
    tpu.tensorflow_tpu = null
    tpu.libtpu = null
    tpu.libtpu_path = null
    tpu_resolver = {"tried": true, "connected": false, "error": "NotFoundError: TPU system not found"}
    tensorflow.version = "2.21.0"
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs[1].status = "skipped"
    -> This machine has a TPU (4 × v5e), but tensorflow 2.21.0 can't use it: tensorflow-tpu is not installed.
References:
    https://pypi.org/project/tensorflow-tpu/
    https://cloud.google.com/tpu/docs/run-calculation-tensorflow
"""

from msgspec.structs import replace

from gpucheck.core.combiners.tpu_state import TpuState
from gpucheck.core.compat import versions
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.tpu_failure._packages import runtimes, tpu_packages

LAST_IMAGE = "2.18"  # Google's TPU VM images up to this release contain a TensorFlow with TPU support under the plain name


@rule(
    scope=Scope.ENVIRONMENT,
    explains=("tpu-unreachable", "cpu-fallback", "training-failed", "training-crashed", "tensorflow-import-failed"),
    tensorflow=True,
)
def check(state: TpuState, packages: Packages, context: Context) -> Finding | Skip | None:
    """Report a TPU chip or device node without tensorflow-tpu or libtpu."""
    tpu, installed = state.tpu, packages.tensorflow
    if not (tpu.generations or tpu.nodes) or state.connected or state.remote or installed is None:
        return None  # only a variable: tpu-not-found
    name = f"{installed.name} {installed.version}"
    if tpu.tensorflow_tpu is None:
        if installed.name != "tensorflow":
            return Skip(f"whether {name} can drive a TPU is not known")
        if state.resolver is None and not versions.at_least(installed.version, "2.19"):
            return Skip(f"TensorFlow up to {LAST_IMAGE} may come from a TPU VM image; only a connection shows whether it does")
        what = f"{name} can't use it: tensorflow-tpu is not installed"
    elif tpu.libtpu is None and tpu.libtpu_path is None:
        what = "libtpu, the library that drives it, is not installed"
    else:
        return None
    return Finding(
        summary=f"This machine has a TPU ({state.title}), but {what}.",
        evidence=(*saw(tpu, "generations", "nodes", "tensorflow_tpu", "libtpu"), *saw(packages, "tensorflow")),
        fix=repairs(replace(context, framework="tensorflow"), tensorflow_tpu=tpu.tensorflow_tpu or ""),
    )


def repairs(context: Context, *, tensorflow_tpu: str = "") -> Fixes:
    """Install the runtime of the framework.

    Args:
        context: what is known about the machine.
        tensorflow_tpu: version of the installed tensorflow-tpu, if only libtpu is missing.
    """
    if tensorflow_tpu:
        fix = Fix(
            text=f"Install the libtpu that matches tensorflow-tpu {tensorflow_tpu}",
            command=context.pip(*tpu_packages(tensorflow_tpu)[1:]),
        )
    else:
        install = context.pip(*tpu_packages())
        fix = Fix(
            text="Replace TensorFlow with the build for TPUs and the matching libtpu",
            command=install if context.notebook else f"{context.uninstall('tensorflow')} && {install}",
        )
    yield from runtimes(context, fix)
