"""The packages that drive a TPU."""

from gpucheck.core.compat import tpu as tpus
from gpucheck.core.compat import versions


def tpu_packages(tensorflow_tpu: str = tpus.LATEST_TENSORFLOW_TPU) -> tuple[str, ...]:
    """pip's arguments for that tensorflow-tpu (first) and the libtpu that fits it."""
    pin = tpus.LIBTPU_PINS.get(tensorflow_tpu, tpus.LIBTPU_LAST_WITH_TENSORFLOW_ENTRY)
    index = () if versions.at_least(tensorflow_tpu, "2.19") else ("-f", tpus.LIBTPU_INDEX)
    return (f"tensorflow-tpu=={tensorflow_tpu}", f"libtpu=={pin}", *index)
