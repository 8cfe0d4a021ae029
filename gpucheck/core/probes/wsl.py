"""Windows Subsystem for Linux: its version, its GPU device, and its driver libraries."""

import re

from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe

LIBRARIES = "/usr/lib/wsl/lib"  # where WSL2 mounts the Linux part of the Windows driver
# Where a Linux driver is installed.
LINUX_FOLDERS = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/nvidia/lib64")
DRIVER_LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1")


class Wsl(Fact, frozen=True, kw_only=True):
    """WSL as detected from inside; all other fields are None or empty outside WSL."""

    inside: bool  # on WSL's kernel: in a distribution, or in a container started from one
    version: int | None = None  # 1 or 2
    distribution: bool | None = None  # False: a container on WSL's kernel (Docker Desktop), which has no WSL settings
    dxg_present: bool | None = None  # /dev/dxg, the GPU device of WSL2
    libraries: tuple[str, ...] = ()  # names of the NVIDIA libraries in /usr/lib/wsl/lib
    # libcuda.so.1 / libnvidia-ml.so.1 outside it: a Linux driver inside WSL; not read in containers.
    linux_driver_libraries: tuple[str, ...] = ()
    gpu_enabled: bool | None = None  # [gpu] enabled= of /etc/wsl.conf; None: not set (the default is true)


@probe(level=Level.NODE)
def read(host: Host) -> Wsl:
    """Read the kernel's release string, /dev/dxg, /usr/lib/wsl/lib and /etc/wsl.conf."""
    if host.platform != "linux":
        return Wsl(inside=False)
    release = host.uname()[1]
    dxg = host.stat("/dev/dxg") is not None
    announced = bool(host.env.get("WSL_DISTRO_NAME") or host.env.get("WSL_INTEROP"))  # lost under sudo, cron and ssh
    libraries = host.names(LIBRARIES)
    # A custom kernel for WSL2 may not have the word in its name.
    if not ("microsoft" in release.lower() or dxg or announced or libraries):
        return Wsl(inside=False)
    own_runtime = announced or host.stat("/run/WSL") is not None or host.stat("/mnt/wsl") is not None
    distribution = own_runtime or not _in_container(host)
    return Wsl(
        inside=True,
        version=1 if _is_wsl1(release) else 2,
        distribution=distribution,
        dxg_present=dxg,
        libraries=tuple(name for name in libraries if name.startswith(("libcuda", "libnv"))),
        linux_driver_libraries=_linux_driver(host) if distribution else (),  # a container runtime mounts them there
        gpu_enabled=_gpu_enabled(host.read("/etc/wsl.conf") or "") if distribution else None,
    )


def _is_wsl1(release: str) -> bool:
    """Whether it is WSL1's: 4.4.0-<Windows build>-Microsoft. The number alone is ambiguous, because WSL2 had 4.19 kernels."""
    return re.fullmatch(r"[\d.]+-\d+-Microsoft", release) is not None


def _in_container(host: Host) -> bool:
    markers = ("/.dockerenv", "/run/.containerenv", "/.singularity.d")
    return "KUBERNETES_SERVICE_HOST" in host.env or any(host.stat(path) is not None for path in markers)


def _linux_driver(host: Host) -> tuple[str, ...]:
    paths = {
        path: host.real(path)
        for folder in LINUX_FOLDERS
        for library in DRIVER_LIBRARIES
        for path in host.glob(f"{folder}/{library}")
    }
    return tuple(path for path, target in paths.items() if not target.startswith("/usr/lib/wsl/"))


def _gpu_enabled(text: str) -> bool | None:
    section = ""
    for line in text.splitlines():
        line = line.partition("#")[0].strip().lower()
        if line.startswith("["):
            section = line.strip("[] ")
        key, _, value = line.partition("=")
        if section == "gpu" and key.strip() == "enabled":
            return {"true": True, "false": False}.get(value.strip(" \"'"))
    return None
