"""The packages that drive a TPU, for each framework."""

from gpucheck.core.compat import tpu as tpus
from gpucheck.core.compat import versions
from gpucheck.core.model import Fix, Fixes
from gpucheck.core.repairs.context import Context


def tpu_packages(tensorflow_tpu: str = tpus.LATEST_TENSORFLOW_TPU) -> tuple[str, ...]:
    """Return pip's arguments for this tensorflow-tpu (first) and the matching libtpu."""
    pin = tpus.LIBTPU_PINS.get(tensorflow_tpu, tpus.LIBTPU_LAST_WITH_TENSORFLOW_ENTRY)
    index = () if versions.at_least(tensorflow_tpu, "2.19") else ("-f", tpus.LIBTPU_INDEX)
    return (f"tensorflow-tpu=={tensorflow_tpu}", f"libtpu=={pin}", *index)


def runtimes(context: Context, tensorflow: Fix) -> Fixes:
    """Install the framework with the matching runtime.

    Args:
        context: what is known about the machine.
        tensorflow: the repair for TensorFlow, the only one whose packages depend on what is installed.
    """
    jax = Fix(text="Install JAX with the matching TPU runtime", command=context.pip("-U", "jax[tpu]"))
    torch = Fix(text="Install torch_xla[tpu] of the same version as torch")
    yield from context.only(jax, framework="jax")
    yield from context.only(tensorflow, framework="tensorflow")
    yield from context.only(torch, framework="torch")
