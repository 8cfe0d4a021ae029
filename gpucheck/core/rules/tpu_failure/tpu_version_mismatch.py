"""The installed libtpu is incompatible with the installed tensorflow-tpu.

Symptom:
    F tpu_library_init_fns.inc:12] ConfigureDistributedTpuOp_DoWork not available in this library.
    Aborted (core dumped), at import tensorflow
    - No matching distribution found for libtpu==2.18.0
Cause:
    tensorflow-tpu 2.20 accepts any libtpu from 0.0.14 on, so pip takes the newest; those from 0.0.45 on no longer have the
    functions that TensorFlow calls, and the import aborts. Older releases work with exactly one libtpu, and installing JAX for
    TPUs replaces it.
Verify:
    python -c "import tensorflow" exits without an abort.
Unless:
    Never: the import fails.
Example:
    machine: tpu-v5e
    packages.libtpu.version = "0.0.51"
    tpu.libtpu = "0.0.51"
    tpu_resolver = {"tried": false, "reason": "TensorFlow could not be imported"}
    tensorflow = {"imported": null, "error": "killed by SIGABRT", "ending": "killed by SIGABRT"}
    keras = {}
    training = {"runs": [], "ending": "killed by SIGABRT", "stage": "import"}
    -> libtpu 0.0.51 is incompatible with tensorflow-tpu 2.20.0, which then aborts or finds no TPU.
References:
    https://pypi.org/project/tensorflow-tpu/
    https://pypi.org/project/libtpu/
"""

from msgspec.structs import replace

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.tpu_state import TpuState
from gpucheck.core.compat import tpu as tpus
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.tpu_failure._packages import runtimes, tpu_packages


@rule(
    scope=Scope.ENVIRONMENT,
    explains=(
        *("tensorflow-import-failed", "tpu-runtime-missing", "tpu-unreachable", "cpu-fallback"),
        *("training-failed", "training-crashed"),
    ),
    tensorflow=True,
)
def check(state: TpuState, context: Context, tensorflow: TensorFlow | None, log_causes: LogCauses) -> Finding | Skip | None:
    """Report a pair that is known to be incompatible, unless a connection succeeded."""
    tpu = state.tpu
    if tpu.tensorflow_tpu is None or tpu.libtpu is None or state.connected:
        return None  # a missing one is tpu-runtime-missing
    if not tpu.expected and tensorflow is not None and tensorflow.imported:
        return None  # no TPU is expected, and the import succeeded
    fits = tpus.libtpu_matches(tpu.tensorflow_tpu, tpu.libtpu)
    if fits:
        return None
    fix = tuple(repairs(replace(context, framework="tensorflow"), tensorflow_tpu=tpu.tensorflow_tpu))
    if fits is None:
        cause = log_causes.causes.get("tpu-version-mismatch")
        return log_causes.finding(cause, fix) if cause else Skip(f"whether libtpu {tpu.libtpu} is compatible is not known")
    return Finding(
        summary=f"libtpu {tpu.libtpu} is incompatible with tensorflow-tpu {tpu.tensorflow_tpu}, which then aborts or finds no TPU.",
        evidence=saw(tpu, "tensorflow_tpu", "libtpu"),
        fix=fix,
    )


def repairs(context: Context, *, tensorflow_tpu: str = "", message: str = "") -> Fixes:
    """Install matching versions.

    Args:
        context: what is known about the machine.
        tensorflow_tpu: version of the installed tensorflow-tpu.
        message: the framework's message.
    """
    if "binary running on" in message:
        yield Fix(
            text="Install the TensorFlow version that the TPU runs, or create the TPU with this version: gcloud compute tpus"
            " tpu-vm create NAME --version=tpu-vm-tf-VERSION"
        )
        return
    known = tensorflow_tpu or context.framework_version or ""
    pair = tpu_packages(known) if known in tpus.LIBTPU_PINS or known == tpus.LATEST_TENSORFLOW_TPU else tpu_packages()
    fix = Fix(
        text=f"Install the libtpu that matches tensorflow-tpu {tensorflow_tpu}" if tensorflow_tpu else "Install a matching pair",
        command=context.pip(*(pair[1:] if tensorflow_tpu else pair)),
    )
    yield from runtimes(context, fix)
