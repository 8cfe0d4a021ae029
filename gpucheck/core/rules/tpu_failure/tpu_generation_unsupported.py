"""TensorFlow does not support this TPU generation.

Symptom:
    ValueError: TPU7x is not supported by this TensorFlow
    - TPU system not found, on a TPU7x (Ironwood) machine
Cause:
    Google's runtime for TPU7x supports JAX (and PyTorch), but not TensorFlow.
Verify:
    $ python -c "import jax; print(jax.devices())"
Unless:
    You already train with JAX: gpucheck's TensorFlow checks then don't apply to this machine.
Example:
    machine: tpu-v5e
    pci.google = [{"address": "0000:00:04.0", "vendor_id": "0x1ae0", "device_id": "0x0076"}]
    tpu.generations = ["tpu7x"]
    tpu.nodes = ["/dev/vfio/0"]
    tpu_resolver = {"tried": true, "connected": false, "error": "NotFoundError: TPU system not found"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs[1].status = "skipped"
    -> TensorFlow can't use this TPU (tpu7x): Google supports JAX and PyTorch on that generation.
References:
    https://cloud.google.com/tpu/docs/tpu7x
    https://keras.io/getting_started/#configuring-your-backend
"""

from msgspec.structs import replace

from gpucheck.core.combiners.tpu_state import TpuState
from gpucheck.core.compat import tpu as tpus
from gpucheck.core.model import Finding, Fix, Fixes, Scope, rule, saw
from gpucheck.core.repairs.context import Context

TYPE = "TPU_ACCELERATOR_TYPE"
UNSUPPORTED = frozenset(known.name for known in tpus.GENERATIONS if known.tensorflow == "no")


@rule(
    scope=Scope.HARDWARE,
    explains=(
        "tpu-not-found",
        "tpu-unreachable",
        "tpu-runtime-missing",
        "tpu-version-mismatch",
        "cpu-fallback",
        "training-failed",
        "training-crashed",
    ),
    tensorflow=True,
)
def check(state: TpuState, context: Context) -> Finding | None:
    """Report a TPU, on the bus or in the environment, of a generation that TensorFlow does not support."""
    chip = next((name for name in state.tpu.generations if name in UNSUPPORTED), None)
    configured = tpus.generation_of(state.environment.variables.get(TYPE, "")) if state.environment is not None else None
    unsupported = chip or (configured if configured in UNSUPPORTED else None)
    if unsupported is None or state.connected:
        return None
    which = f"this TPU ({unsupported})" if chip else f"the TPU generation {unsupported}, which {TYPE} specifies"
    evidence = saw(state.tpu, "generations")
    if not chip and state.environment is not None:
        evidence += saw(state.environment, f"variables.{TYPE}")
    return Finding(
        summary=f"TensorFlow can't use {which}: Google supports JAX and PyTorch on that generation.",
        evidence=evidence,
        fix=repairs(replace(context, framework="tensorflow"), variables="" if chip else TYPE),
    )


def repairs(context: Context, *, variables: str = "") -> Fixes:
    """Use a supported framework, or another TPU.

    Args:
        context: what is known about the machine.
        variables: those that name the TPU, if no chip was found.
    """
    if context.excludes(framework="tensorflow"):
        yield Fix(text="Install the newest release of the framework and of libtpu: older ones don't support this generation")
        return
    setting = "set KERAS_BACKEND=jax" if context.windows else "export KERAS_BACKEND=jax"
    yield Fix(text="Train with Keras on JAX, which supports it", command=f"{context.pip('jax[tpu]')} && {setting}")
    yield Fix(text="Or use a TPU generation that TensorFlow supports: v2 to v5p, and with limits v6e")
    if variables:
        yield Fix(text="If you do not use a TPU, remove the variable that configures it", command=f"unset {variables}")
