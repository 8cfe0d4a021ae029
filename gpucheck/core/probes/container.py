"""The container this process runs in, if any, and whether a GPU was passed to it."""

import re
from collections.abc import Iterator

import msgspec

from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe

# The names of managers in $container, /run/systemd/container and /run/host/container-manager
# (systemd.io/CONTAINER_INTERFACE). WSL does so too, but is not a container.
NAMED = {
    "docker": "docker",
    "podman": "podman",
    "lxc": "lxc",
    "lxc-libvirt": "lxc",
    "systemd-nspawn": "nspawn",
    "oci": None,
}
# Control groups of PID 1 or of this process. On a host a service may be called docker or containerd: an id must follow.
CGROUPS = (
    ("kubernetes", r"kubepods"),
    ("podman", r"libpod[-_/]"),
    ("docker", r"/docker[-/][0-9a-f]{12}|/docker/buildx?kit/"),
    ("lxc", r"/lxc(\.payload)?[./]"),
    ("containerd", r"cri-containerd[-:]|/nerdctl|/default/[0-9a-f]{64}"),
    ("nspawn", r"machine\.slice/systemd-nspawn@"),
)
# Where the layers of the root file system are on the host.
LAYERS = (
    ("podman", "/containers/storage/"),
    ("docker", "/docker/"),
    ("containerd", "containerd"),
    (None, "/buildkit/"),
)
# The namespaces of the host, whose numbers are constants of Linux (PROC_PID_INIT_INO and so on). A container has its own, unless
# it was started with --pid=host, --ipc=host and --uts=host.
HOST_NAMESPACES = {"pid": 4026531836, "ipc": 4026531839, "uts": 4026531838}
NO_DEVICES = ("", "void", "none")
DRIVER_FILES = (
    r".*/(libcuda\.so|libnvidia-ml\.so|nvidia-smi)[^/]*|/proc/driver/nvidia.*|/dev/(nvidia|dxg).*"
    r"|/usr/local/nvidia(/.*)?"  # GKE mounts the whole folder
)


class Container(Fact, frozen=True, kw_only=True):
    """The container, as detected from inside."""

    inside: bool
    kind: str | None = None  # "docker", "podman", "kubernetes", "lxc", "apptainer", "containerd", "nspawn", "enroot"
    nvidia_visible_devices: str | None = None  # as set by the container runtime: "all", "0,1", "void", "none", a UUID
    driver_capabilities: str | None = None  # NVIDIA_DRIVER_CAPABILITIES
    # NVIDIA_VISIBLE_DEVICES lists devices (not unset, empty, "void" or "none"). Not conclusive: CUDA's images set it to
    # "all" themselves, and CDI and some device plugins of Kubernetes pass GPUs with "void" or without it.
    gpu_requested: bool | None = None
    driver_files_mounted: bool | None = None  # the NVIDIA runtime mounted driver libraries or devices (mountinfo)


class Mount(msgspec.Struct, frozen=True):
    """One mounted file system of this process: proc_pid_mountinfo(5)."""

    root: str  # the mounted part of the file system
    point: str  # the mount point
    kind: str  # "overlay", "cgroup2"
    options: tuple[str, ...]  # of the file system itself: "lowerdir=/var/lib/docker/overlay2/l/..."


@probe(level=Level.NODE)
def read(host: Host) -> Container:
    """Read the marker files, cgroup and mount tables of container runtimes."""
    if host.platform != "linux":
        return Container(inside=False)
    known = mounts_of(host)
    mounts = known or []
    kinds = list(_signs(host, mounts))
    if host.env.get("KUBERNETES_SERVICE_HOST") and (kinds or known is None or _overlay(mounts)):
        kinds.insert(0, "kubernetes")  # not conclusive alone: any shell can export it
    if not kinds:
        return Container(inside=False)
    devices = host.env.get("NVIDIA_VISIBLE_DEVICES")
    return Container(
        inside=True,
        kind=next((kind for kind in kinds if kind), None),
        nvidia_visible_devices=devices,
        driver_capabilities=host.env.get("NVIDIA_DRIVER_CAPABILITIES"),
        gpu_requested=(devices or "").strip().lower() not in NO_DEVICES,
        driver_files_mounted=None if known is None else any(re.fullmatch(DRIVER_FILES, mount.point) for mount in known),
    )


def mounts_of(host: Host) -> list[Mount] | None:
    """Return all mounts in the kernel's order, without invalid lines; None if unreadable."""
    text = host.read("/proc/self/mountinfo")
    return None if text is None else [mount for line in text.splitlines() if (mount := _mount(line)) is not None]


def _mount(line: str) -> Mount | None:
    before, _, after = line.partition(" - ")
    fields, of_file_system = before.split(), after.split()
    if len(fields) < 5 or not of_file_system:
        return None
    kind, _, options = [*of_file_system, "", ""][:3]
    return Mount(fields[3], fields[4], kind, tuple(options.split(",")))


def _signs(host: Host, mounts: list[Mount]) -> Iterator[str | None]:
    """Yield the detected kinds of container, the strongest evidence first; None: an unknown kind."""
    cgroups = "\n".join(host.read(path) or "" for path in ("/proc/self/cgroup", "/proc/1/cgroup"))
    by_cgroup = [kind for kind, pattern in CGROUPS if re.search(pattern, cgroups)]
    if (
        "kubernetes" in by_cgroup
        or host.stat("/var/run/secrets/kubernetes.io") is not None
        or any("/pods/" in mount.root and mount.root.endswith("/etc-hosts") for mount in mounts)  # the kubelet's own mount
    ):
        yield "kubernetes"
    names = ("APPTAINER_CONTAINER", "SINGULARITY_CONTAINER")  # others with this prefix are also set on hosts
    if any(host.env.get(name) for name in names) or host.stat("/.singularity.d") is not None:
        yield "apptainer"
    if any(mount.point == "/.lock" for mount in mounts) or host.stat("/.enroot") is not None:
        yield "enroot"  # it locks its root file system with this file
    if host.stat("/run/.containerenv") is not None:
        yield "podman"
    # A virtual machine or a WSL distribution that was made from an image keeps the image's files.
    files_count = bool(_overlay(mounts)) or not _of_host(host)
    if host.stat("/.dockerenv") is not None and host.stat("/run/WSL") is None and files_count:
        yield "docker"
    yield from by_cgroup
    for word in (host.env.get("container", ""), *(_names(host) if files_count else ())):
        if word in NAMED:
            yield NAMED[word]
    if any("lxcfs" in mount.kind for mount in mounts) or host.stat("/dev/lxd") is not None:
        yield "lxc"
    if (root := _overlay(mounts)) is not None:
        yield from (kind for kind, folder in LAYERS if any(folder in option for option in root.options))


def _of_host(host: Host) -> bool:
    """Whether this process is in namespaces of the host."""
    return all(host.link(f"/proc/self/ns/{name}") == f"{name}:[{number}]" for name, number in HOST_NAMESPACES.items())


def _names(host: Host) -> Iterator[str]:
    for path in ("/run/systemd/container", "/run/host/container-manager"):
        yield (host.read(path) or "").strip()


def _overlay(mounts: list[Mount]) -> Mount | None:
    """Return the root file system if it has layers. A live CD's also has them, so they alone do not prove a container."""
    return next((mount for mount in mounts if mount.point == "/" and "overlay" in mount.kind), None)
