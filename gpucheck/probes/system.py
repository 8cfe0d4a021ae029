"""The operating system, the kernel, the processor architecture and the C library."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class System(Fact, frozen=True, kw_only=True):
    """What runs below Python."""

    platform: str  # as sys.platform: "linux", "darwin", "win32"
    os_name: str | None = None  # "Ubuntu 24.04.3 LTS"
    os_id: str | None = None  # ID of /etc/os-release: "ubuntu", "debian", "rhel", "alpine"
    kernel: str | None = None  # "6.8.0-45-generic"
    architecture: str | None = None  # "x86_64", "aarch64"
    glibc: str | None = None  # "2.39"; None also on musl, macOS and Windows
    musl: bool | None = None
    is_root: bool | None = None


@probe(level=Level.QUICK)
def read(host: Host) -> System:
    """Read /etc/os-release, uname and the C library's version."""
    raise NotImplementedError
