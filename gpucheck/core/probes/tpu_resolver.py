"""The result of TPUClusterResolver, with a time limit, tried only if this machine has signs of a TPU."""

from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes import tpu
from gpucheck.core.probes._frameworks import other_backend, tensorflow_child, tpu_connection


class TpuResolver(Fact, frozen=True, kw_only=True):
    """The result of connecting."""

    tried: bool
    reason: str | None = None  # why it was not tried
    connected: bool | None = None
    devices: int | None = None  # TPU devices TensorFlow lists once connected
    error: str | None = None


@probe(level=Level.DEFAULT, tensorflow=True)
def read(host: Host) -> TpuResolver:
    """Wait for the framework child's attempt to connect, with a time limit."""
    if not tpu.read(host).expected:
        return TpuResolver(tried=False, reason="this machine shows no sign of a TPU")
    if other := other_backend(host):
        return TpuResolver(tried=False, reason=f"Keras on {other} uses the TPU")
    answer = tpu_connection(host)
    if answer is None:
        return TpuResolver(tried=False, reason=f"not reached: TensorFlow's process {tensorflow_child(host).end().how}")
    return TpuResolver(tried=True, connected=answer.connected, devices=answer.devices, error=answer.error)
