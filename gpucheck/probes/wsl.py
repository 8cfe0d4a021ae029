"""Windows Subsystem for Linux: which version, its GPU device, and which driver library answers there."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class Wsl(Fact, frozen=True, kw_only=True):
    """WSL as seen from inside; everything below ``inside`` is None or empty outside WSL."""

    inside: bool
    version: int | None = None  # 1 or 2
    dxg_present: bool | None = None  # /dev/dxg, the GPU device of WSL2
    libraries: tuple[str, ...] = ()  # NVIDIA libraries in /usr/lib/wsl/lib
    linux_driver_libraries: tuple[
        str, ...
    ] = ()  # libcuda.so.1 / libnvidia-ml.so.1 outside it: a Linux driver inside WSL
    gpu_enabled: bool | None = None  # [gpu] enabled= of /etc/wsl.conf; None: not set (the default is true)


@probe(level=Level.QUICK)
def read(host: Host) -> Wsl:
    """Read the kernel's release string, /dev/dxg, /usr/lib/wsl/lib and /etc/wsl.conf."""
    raise NotImplementedError
