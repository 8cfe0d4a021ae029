"""TensorFlow does not support this TPU generation.

Symptom:
    ValueError: TPU7x is not supported by this TensorFlow
    - TPU system not found, on a TPU7x (Ironwood) machine
Cause:
    Google's runtime for TPU7x serves JAX (and PyTorch); TensorFlow is not supported there.
Fix:
    1. Train with Keras on JAX
       $ python -m pip install "jax[tpu]" && export KERAS_BACKEND=jax
    2. Or use a TPU generation that TensorFlow supports: v2 to v6e
Verify:
    $ python -c "import jax; print(jax.devices())"
Unless:
    You train with JAX already: then gpucheck's TensorFlow checks are not for this machine.
Example:
    machine: tpu-v5e
    pci.google = [{"address": "0000:00:04.0", "vendor_id": "0x1ae0", "device_id": "0x0076"}]
    tpu.generations = ["tpu7x"]
    tpu.nodes = ["/dev/vfio/0"]
    tpu_resolver = {"tried": true, "connected": false, "error": "NotFoundError: TPU system not found"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs[1].status = "skipped"
    -> This TPU (tpu7x) can't be used by TensorFlow: Google supports other frameworks on that generation.
References:
    https://cloud.google.com/tpu/docs/tpu7x
    https://keras.io/getting_started/#configuring-your-backend
"""

from gpucheck.core.combiners.tpu_state import TpuState
from gpucheck.core.compat import tpu as tpus
from gpucheck.core.model import Finding, Fix, Scope, Severity, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.interpreter import Interpreter
from gpucheck.core.repairs.commands import pip

UNSUPPORTED = frozenset(known.name for known in tpus.GENERATIONS if known.tensorflow == "no")


@rule(
    severity=Severity.ERROR,
    scope=Scope.HARDWARE,
    explains=("tpu-unreachable", "tpu-runtime-missing", "tpu-version-mismatch", "training-failed", "training-crashed"),
    tensorflow=True,
)
def check(state: TpuState, interpreter: Interpreter | None) -> Finding | None:
    """A chip on the bus is of a generation for which the vendor rules TensorFlow out."""
    unsupported = next((name for name in state.tpu.generations if name in UNSUPPORTED), None)
    if unsupported is None or state.connected:
        return None
    return Finding(
        summary=f"This TPU ({unsupported}) can't be used by TensorFlow: Google supports other frameworks on that generation.",
        evidence=saw(state.tpu, "generations"),
        fix=(
            Fix(
                text="Train with Keras on JAX",
                command=f"{pip(interpreter, 'jax[tpu]')} && export KERAS_BACKEND=jax",
            ),
            Fix(text="Or use a TPU generation that TensorFlow supports: v2 to v6e"),
        ),
    )
