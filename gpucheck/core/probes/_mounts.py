"""The file systems mounted for this process: proc_pid_mountinfo(5)."""

import msgspec

from gpucheck.core.host import Host


class Mount(msgspec.Struct, frozen=True):
    """One mounted file system."""

    root: str  # the mounted part of the file system
    point: str  # the mount point
    kind: str  # "overlay", "cgroup2"
    options: tuple[str, ...]  # of the file system itself: "lowerdir=/var/lib/docker/overlay2/l/..."


def read(host: Host) -> list[Mount] | None:
    """All mounts in the kernel's order, without invalid lines; None if unreadable."""
    text = host.read("/proc/self/mountinfo")
    return None if text is None else [mount for line in text.splitlines() if (mount := _mount(line)) is not None]


def _mount(line: str) -> Mount | None:
    before, _, after = line.partition(" - ")
    fields, of_file_system = before.split(), after.split()
    if len(fields) < 5 or not of_file_system:
        return None
    kind, _, options = [*of_file_system, "", ""][:3]
    return Mount(fields[3], fields[4], kind, tuple(options.split(",")))
