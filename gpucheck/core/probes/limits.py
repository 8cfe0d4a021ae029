"""The limits of this process: processors, memory, shared memory, ulimits, and the folders that CUDA and Keras write."""

from collections.abc import Iterator

from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes.container import mounts_of

CGROUPS = "/sys/fs/cgroup"
_PASSING = ("memory_available_bytes", "memory_limit_used_bytes", "shared_memory_free_bytes")  # other processes change them
NO_LIMIT = 1 << 60  # cgroup v1 writes "no limit" as the largest page-aligned number


class Limits(Fact, frozen=True, kw_only=True):
    """Limits in force for this process. A limit that is None is unlimited or unknown."""

    cpu_count: int | None = None  # logical processors of the machine
    cpu_affinity_count: int | None = None  # those this process may run on
    cpu_quota: float | None = None  # processors granted by the cgroup, such as 1.5; None: no quota, or unknown
    memory_total_bytes: int | None = None
    memory_available_bytes: int | None = None
    memory_limit_bytes: int | None = None  # the cgroup's, if below the machine's memory
    memory_limit_used_bytes: int | None = None  # charged to that cgroup, without page cache that can be dropped
    shared_memory_total_bytes: int | None = None  # /dev/shm
    shared_memory_free_bytes: int | None = None
    address_space_bytes: int | None = None  # ulimit -v; None: unlimited or unknown
    data_bytes: int | None = None  # ulimit -d; None: unlimited or unknown
    open_files: int | None = None  # ulimit -n; None: unlimited or unknown
    processes: int | None = None  # ulimit -u; None: unlimited or unknown
    processes_cgroup: int | None = None  # pids.max of the cgroup
    processes_cgroup_file: str | None = None  # the file that it was read from
    cpu_seconds: int | None = None  # ulimit -t; None: unlimited or unknown
    file_size_bytes: int | None = None  # ulimit -f; None: unlimited or unknown
    home: str | None = None  # None: HOME is not set
    home_writable: bool | None = None  # False also if the folder does not exist
    kernel_cache: str | None = None  # CUDA's cache of compiled kernels: CUDA_CACHE_PATH, else ~/.nv/ComputeCache
    kernel_cache_writable: bool | None = None  # the folder, or its nearest existing parent
    kernel_cache_disabled: bool = False  # CUDA_CACHE_DISABLE=1
    kernel_cache_other: str | None = None  # an alternative folder; searched only if it can't be written
    temporary_folders: tuple[str, ...] = ()  # candidates for temporary files, in search order; empty: unknown
    temporary_folder: str | None = None  # the first writable one


@probe(level=Level.NODE)
def read(host: Host) -> Limits:
    """Read psutil, the cgroup files, the resource limits and write permissions."""
    processors, allowed = host.processors()
    memory = host.memory()
    total = None if memory is None else memory.total_bytes
    groups = _Cgroups(host)
    limit, used = groups.memory(total)
    tasks, tasks_file = groups.processes()
    shared = host.disk("/dev/shm") if host.platform == "linux" else None  # noqa: S108 - only its size is read
    home = host.env.get("USERPROFILE" if host.platform == "win32" else "HOME") or None
    cache = host.env.get("CUDA_CACHE_PATH") or _default_cache(host, home)
    cache_writable = None if cache is None else _creatable(host, cache)
    temporary = _temporary_folders(host)
    return Limits(
        cpu_count=processors,
        cpu_affinity_count=allowed,
        cpu_quota=groups.processors(),
        memory_total_bytes=total,
        memory_available_bytes=None if memory is None else memory.available_bytes,
        memory_limit_bytes=limit,
        memory_limit_used_bytes=used,
        shared_memory_total_bytes=None if shared is None else shared.total_bytes,
        shared_memory_free_bytes=None if shared is None else shared.free_bytes,
        address_space_bytes=host.ulimit("AS"),
        data_bytes=host.ulimit("DATA"),
        open_files=host.ulimit("NOFILE"),
        processes=host.ulimit("NPROC"),
        processes_cgroup=tasks,
        processes_cgroup_file=tasks_file,
        cpu_seconds=host.ulimit("CPU"),
        file_size_bytes=host.ulimit("FSIZE"),
        home=home,
        home_writable=None if home is None else host.writable(home),
        kernel_cache=cache,
        kernel_cache_writable=cache_writable,
        kernel_cache_disabled=host.env.get("CUDA_CACHE_DISABLE", "").strip() == "1",
        kernel_cache_other=_other_cache(host) if cache_writable is False else None,
        temporary_folders=temporary,
        temporary_folder=next((folder for folder in temporary if host.writable(folder)), None),
    )


def comparable(limits: Limits) -> str:
    """Return the limits as text for comparison, without the values that other processes change."""
    fields = {name: getattr(limits, name) for name in limits.__struct_fields__ if name not in _PASSING}
    return repr(sorted(fields.items()))


def main_memory(host: Host) -> tuple[int | None, int | None]:
    """Return available and total main memory, in bytes: the control group's if its limit is lower. None: unknown."""
    memory = host.memory()
    limit, used = _Cgroups(host).memory(None if memory is None else memory.total_bytes)
    if limit is not None and used is not None:
        return limit - used, limit
    return (memory.available_bytes, memory.total_bytes) if memory else (None, None)


def usable_processors(host: Host) -> float | None:
    """Return how many processors this process may use: the minimum of machine, affinity and quota. None: unknown."""
    return min(filter(None, (*host.processors(), _Cgroups(host).processors())), default=None)


def oom_kills(host: Host) -> int | None:
    """Return how many processes the OOM killer has ended so far, in this control group, else on this machine.

    None: the kernel does not count them here. Sources: cgroup-v2 of the kernel's documentation; mm/oom_kill.c.
    """
    return _Cgroups(host).oom_kills()


class _Cgroups:
    """This process' control groups, version 1 or 2, each with its ancestors: the lowest limit of a chain applies."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._paths: dict[str, str] = {}  # controller -> path; "" is version 2
        for line in (host.read("/proc/self/cgroup") or "").splitlines():
            _, controllers, path = [*line.split(":", 2), "", ""][:3]
            for controller in controllers.split(","):
                self._paths[controller] = path
        self._mounts = [
            (mount.root, mount.point, mount.options if mount.kind == "cgroup" else ("",))  # controllers
            for mount in mounts_of(host) or ()
            if mount.kind in ("cgroup", "cgroup2")
        ]

    def memory(self, total: int | None) -> tuple[int | None, int | None]:
        """Return the lowest limit below the machine's memory, and the memory charged to its group, in bytes."""
        ceiling = NO_LIMIT if total is None else total
        tightest: tuple[int | None, int | None] = (None, None)
        for folder, old in self._folders("memory"):
            limits = [self._number(f"{folder}/{'memory.limit_in_bytes' if old else 'memory.max'}")]
            if old:  # also of ancestors that are not mounted in a container, such as a pod's
                limits.append(self._stat(f"{folder}/memory.stat", "hierarchical_memory_limit"))
            limit = min((limit for limit in limits if limit is not None), default=ceiling)
            if limit < ceiling:
                ceiling, tightest = limit, (limit, self._used(folder, old))
        return tightest

    def processors(self) -> float | None:
        """Return the lowest quota, in processors."""
        quotas = []
        for folder, old in self._folders("cpu"):
            if old:
                quota = self._number(f"{folder}/cpu.cfs_quota_us")
                period = self._number(f"{folder}/cpu.cfs_period_us")
            else:
                words = (self._host.read(f"{folder}/cpu.max", 64) or "").split()
                quota, period = (_number(word) for word in [*words, "", ""][:2])
            if quota and period and quota > 0:
                quotas.append(quota / period)
        return round(min(quotas), 3) if quotas else None

    def processes(self) -> tuple[int | None, str | None]:
        """Return the lowest limit on tasks, including threads, and the file that sets it."""
        paths = [f"{folder}/pids.max" for folder, _ in self._folders("pids")]
        limits = [(limit, path) for path in paths if (limit := self._number(path)) is not None]
        return min(limits, key=lambda limit: limit[0], default=(None, None))

    def oom_kills(self) -> int | None:
        """Return the number of kills in this group; the machine's if the group has no count (the root of version 2)."""
        for folder, old in self._folders("memory"):
            count = self._stat(f"{folder}/{'memory.oom_control' if old else 'memory.events'}", "oom_kill")
            if count is not None:
                return count
            break
        return self._stat("/proc/vmstat", "oom_kill")

    def _used(self, folder: str, old: bool) -> int | None:
        """Return the memory that the kernel can't drop: without cached pages of files, also those read more than once."""
        used = self._number(f"{folder}/{'memory.usage_in_bytes' if old else 'memory.current'}")
        names = (f"{'total_' if old else ''}{name}_file" for name in ("inactive", "active"))
        cached = (self._stat(f"{folder}/memory.stat", name) or 0 for name in names)
        return None if used is None else max(0, used - sum(cached))

    def _stat(self, path: str, name: str) -> int | None:
        lines = (line.partition(" ") for line in (self._host.read(path) or "").splitlines())
        return next((_number(value) for key, _, value in lines if key == name), None)

    def _folders(self, controller: str) -> Iterator[tuple[str, bool]]:
        """Yield the group's folder and those above it, and whether they are version 1."""
        old = controller in self._paths
        hierarchy = controller if old else ""
        path = self._paths.get(hierarchy)
        if path is None:
            return
        default = ("/", f"{CGROUPS}/{controller}" if old else CGROUPS, [hierarchy])
        root, point, _ = next((mount for mount in self._mounts if hierarchy in mount[2]), default)
        # Without a cgroup namespace a container sees the host's path, and the mount's root is that path.
        inner = path[len(root.rstrip("/")) :] if f"{path}/".startswith(f"{root.rstrip('/')}/") else "/"
        parts = [part for part in inner.split("/") if part]
        if ".." in parts:  # a group outside the namespace's root: only the root is visible
            parts = []
        for depth in range(len(parts), -1, -1):
            yield "/".join((point, *parts[:depth])), old

    def _number(self, path: str) -> int | None:
        return _number(self._host.read(path, 64) or "")


def _number(text: str) -> int | None:
    """Parse a number; None for "max", which means unlimited, and for an empty text."""
    try:
        return int(text)
    except ValueError:
        return None


def _temporary_folders(host: Host) -> tuple[str, ...]:
    """Return the folders that Python's tempfile tries, which TensorFlow's import uses; the last is the current folder."""
    if host.platform == "win32":
        return ()
    named = [host.env.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
    return tuple(dict.fromkeys(filter(None, [*named, "/tmp", "/var/tmp", "/usr/tmp", host.real(".")])))  # noqa: S108


def _default_cache(host: Host, home: str | None) -> str | None:
    """Return CUDA's default folder for compiled kernels (CUDA C++ Programming Guide, "Environment Variables")."""
    if host.platform == "win32":
        data = host.env.get("APPDATA")
        return f"{data}\\NVIDIA\\ComputeCache" if data else None
    return f"{home.rstrip('/')}/.nv/ComputeCache" if home and host.platform == "linux" else None


def _other_cache(host: Host) -> str | None:
    """Return a persistent folder that this user owns or can create, and others can't write: CUDA executes its content."""
    user = host.user()
    if user is None or host.platform != "linux":
        return None
    own = host.env.get("XDG_CACHE_HOME", "").rstrip("/")
    above = [own] if own.startswith("/") else []
    for folder in [*above, "/var/tmp", "/tmp"]:  # noqa: S108 - the owner is checked
        path = f"{folder}/cuda-cache-{user}"
        status = host.stat(path)
        if host.link(path) is not None:
            continue  # the target of a link can change
        if status is None:
            if host.writable(folder):
                return path
        elif status.kind == "folder" and status.uid == user and not status.mode & 0o022 and host.writable(path):
            return path
    return None


def _creatable(host: Host, path: str) -> bool:
    while host.stat(path) is None:
        above = path[: max(path.rfind("/"), path.rfind("\\"), 0)] or "/"
        if above == path:
            return False
        path = above
    return host.writable(path)
