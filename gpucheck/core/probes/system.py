"""The operating system, the kernel, the processor architecture and the C library."""

from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe


class System(Fact, frozen=True, kw_only=True):
    """The system that runs Python."""

    node: str | None = None  # its name in Slurm or in a pod's NODE_NAME, else its host name
    platform: str  # as sys.platform: "linux", "darwin", "win32"
    os_name: str | None = None  # "Ubuntu 24.04.3 LTS", "macOS", "Windows 11"
    os_id: str | None = None  # ID of /etc/os-release: "ubuntu", "debian", "rhel", "alpine"
    kernel: str | None = None  # "6.8.0-45-generic"
    architecture: str | None = None  # "x86_64", "aarch64"; "arm64" on macOS
    glibc: str | None = None  # "2.39"; None also on musl, macOS and Windows
    musl: bool | None = None
    is_root: bool | None = None


@probe(level=Level.NODE)
def read(host: Host) -> System:
    """Read /etc/os-release, uname and the C library's version."""
    name, release, machine = host.uname()
    architecture = machine.lower().replace("amd64", "x86_64") or None  # amd64 on Windows and the BSDs
    user = host.user()
    is_root = None if user is None else user == 0
    if host.platform == "darwin":
        return System(platform="darwin", os_name="macOS", kernel=release, architecture=architecture, musl=False, is_root=is_root)
    if host.platform != "linux":
        return System(
            platform=host.platform,
            os_name=f"{name} {release}".strip() or None,
            architecture=architecture,
            musl=False if host.platform == "win32" else None,
            is_root=is_root,
        )
    about = _os_release(host)
    glibc = _glibc(host.libc())
    return System(
        node=host.env.get("SLURMD_NODENAME") or host.env.get("NODE_NAME") or _host_name(host),
        platform="linux",
        os_name=about.get("PRETTY_NAME") or about.get("NAME"),
        os_id=about.get("ID"),
        kernel=release or None,
        architecture=architecture,
        glibc=glibc,
        # A glibc system can also have musl's loader installed, so check glibc first.
        musl=False if glibc else bool(host.glob("/lib/ld-musl-*.so.1")) or None,
        is_root=is_root,
    )


def _host_name(host: Host) -> str | None:
    """Return the host name without the domain, as schedulers use it."""
    return (host.read("/proc/sys/kernel/hostname") or "").strip().partition(".")[0] or None


def _os_release(host: Host) -> dict[str, str]:
    """Return the shell-like assignments of os-release(5)."""
    text = host.read("/etc/os-release") or host.read("/usr/lib/os-release") or ""
    fields = (line.strip().partition("=") for line in text.splitlines() if "=" in line)
    return {key: value.strip("\"'") for key, _, value in fields if not key.startswith("#")}


def _glibc(libc: str | None) -> str | None:
    name, _, version = (libc or "").partition(" ")
    return version or None if name == "glibc" else None
