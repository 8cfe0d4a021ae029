"""The container this process runs in, if any, and whether it was given a GPU."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class Container(Fact, frozen=True, kw_only=True):
    """What the inside of a container tells about it."""

    inside: bool
    kind: str | None = None  # "docker", "podman", "kubernetes", "lxc", "apptainer", "containerd", "nspawn", "enroot"
    nvidia_visible_devices: str | None = None  # as the container runtime left it: "all", "0,1", "void", "none", a UUID
    driver_capabilities: str | None = None  # NVIDIA_DRIVER_CAPABILITIES
    gpu_requested: bool | None = None  # NVIDIA_VISIBLE_DEVICES names devices (not unset, empty, "void" or "none")
    driver_files_mounted: bool | None = None  # the NVIDIA runtime mounted driver libraries or devices (mountinfo)


@probe(level=Level.QUICK)
def read(host: Host) -> Container:
    """Read the marker files, cgroup and mount tables that container runtimes leave."""
    raise NotImplementedError
