import pytest
from fakes import FakeHost

from gpucheck.host import Disk, Memory
from gpucheck.host.local import LocalHost
from gpucheck.model import Request
from gpucheck.probes.limits import Limits, oom_kills, read

GIB = 1 << 30
V2 = "40 30 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
ROOT = "/sys/fs/cgroup"


def v1(root, *controllers):
    return "".join(
        f"{number} 30 0:{number} {root} /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n"
        for number, name in enumerate(controllers, 41)
    )


def linux(cgroup, mounts, files, **more):
    tables = {"/proc/self/cgroup": cgroup, "/proc/self/mountinfo": mounts}
    return FakeHost({**tables, **files}, memory=Memory(64 * GIB, 50 * GIB), **more)


def test_no_limits_at_all():
    files = {f"{ROOT}/cgroup.controllers": "cpu memory pids\n"}  # the root group has no limit files
    assert read(linux("0::/\n", V2, files)) == Limits(
        cpu_count=16, cpu_affinity_count=16, memory_total_bytes=64 * GIB, memory_available_bytes=50 * GIB
    )


def test_docker_v2_in_its_own_namespace():
    files = {
        f"{ROOT}/memory.max": f"{4 * GIB}\n",
        f"{ROOT}/memory.current": f"{3 * GIB}\n",
        f"{ROOT}/memory.stat": f"anon 1\nfile 2\ninactive_file {GIB}\nactive_file 5\n",
        f"{ROOT}/cpu.max": "150000 100000\n",
        f"{ROOT}/pids.max": "512\n",
    }
    limits = read(linux("0::/\n", V2, files))
    assert (limits.memory_limit_bytes, limits.memory_limit_used_bytes) == (4 * GIB, 2 * GIB)
    assert (limits.cpu_quota, limits.processes_cgroup) == (1.5, 512)


def test_v2_nested_the_tightest_ancestor_is_in_force():
    unit = f"{ROOT}/system.slice/job.service"
    files = {
        f"{unit}/memory.max": "max\n",
        f"{unit}/cpu.max": "400000 100000\n",
        f"{unit}/pids.max": "9000\n",
        f"{unit}/inner/memory.max": f"{8 * GIB}\n",
        f"{unit}/inner/memory.current": f"{7 * GIB}\n",
        f"{unit}/inner/cpu.max": "max 100000\n",
        f"{unit}/inner/pids.max": "max\n",
        f"{ROOT}/system.slice/memory.max": f"{2 * GIB}\n",
        f"{ROOT}/system.slice/memory.current": f"{GIB}\n",
        f"{ROOT}/system.slice/cpu.max": "200000 100000\n",
        f"{ROOT}/other.slice/memory.max": "1\n",
    }
    limits = read(linux("0::/system.slice/job.service/inner\n", V2, files))
    assert (limits.memory_limit_bytes, limits.memory_limit_used_bytes) == (2 * GIB, GIB)
    assert (limits.cpu_quota, limits.processes_cgroup) == (2.0, 9000)


def test_v1_docker_sees_the_path_of_the_host():
    where = "/docker/3f4e"
    files = {
        f"{ROOT}/memory/memory.limit_in_bytes": f"{6 * GIB}\n",
        f"{ROOT}/memory/memory.usage_in_bytes": f"{5 * GIB}\n",
        f"{ROOT}/memory/memory.stat": f"cache 9\ntotal_inactive_file {GIB}\nhierarchical_memory_limit {6 * GIB}\n",
        f"{ROOT}/cpu,cpuacct/cpu.cfs_quota_us": "250000\n",
        f"{ROOT}/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        f"{ROOT}/pids/pids.max": "100\n",
    }
    cgroup = f"9:pids:{where}\n4:memory:{where}\n3:cpu,cpuacct:{where}\n1:name=systemd:{where}\n"
    limits = read(linux(cgroup, v1(where, "memory", "cpu,cpuacct", "pids"), files))
    assert (limits.memory_limit_bytes, limits.memory_limit_used_bytes) == (6 * GIB, 4 * GIB)
    assert (limits.cpu_quota, limits.processes_cgroup) == (2.5, 100)


def test_v1_group_below_the_one_that_docker_mounts():
    files = {
        f"{ROOT}/memory/memory.limit_in_bytes": f"{6 * GIB}\n",
        f"{ROOT}/memory/memory.usage_in_bytes": f"{5 * GIB}\n",
        f"{ROOT}/memory/inner/memory.limit_in_bytes": f"{2 * GIB}\n",
        f"{ROOT}/memory/inner/memory.usage_in_bytes": f"{GIB}\n",
    }
    limits = read(linux("4:memory:/docker/3f4e/inner\n", v1("/docker/3f4e", "memory"), files))
    assert (limits.memory_limit_bytes, limits.memory_limit_used_bytes) == (2 * GIB, GIB)


def test_v1_huge_number_and_minus_one_are_no_limit():
    files = {
        f"{ROOT}/memory/job/memory.limit_in_bytes": "9223372036854771712\n",
        f"{ROOT}/memory/job/memory.stat": "hierarchical_memory_limit 9223372036854771712\n",
        f"{ROOT}/cpu/job/cpu.cfs_quota_us": "-1\n",
        f"{ROOT}/cpu/job/cpu.cfs_period_us": "100000\n",
        f"{ROOT}/pids/job/pids.max": "max\n",
    }
    host = linux("4:memory:/job\n3:cpu:/job\n2:pids:/job\n0::/job\n", v1("/", "memory", "cpu", "pids"), files)
    limits = read(host)
    assert (limits.memory_limit_bytes, limits.memory_limit_used_bytes, limits.cpu_quota) == (None, None, None)
    assert limits.processes_cgroup is None


def test_v1_limit_of_an_ancestor_outside_what_is_mounted():
    files = {
        f"{ROOT}/memory/memory.limit_in_bytes": "9223372036854771712\n",
        f"{ROOT}/memory/memory.stat": f"hierarchical_memory_limit {3 * GIB}\n",
    }
    limits = read(linux("4:memory:/kubepods/pod1/c\n", v1("/kubepods/pod1/c", "memory"), files))
    assert (limits.memory_limit_bytes, limits.memory_limit_used_bytes) == (3 * GIB, None)


def test_hybrid_takes_each_controller_where_it_is():
    files = {
        f"{ROOT}/memory/job/memory.limit_in_bytes": f"{GIB}\n",
        f"{ROOT}/unified/job/memory.max": "5\n",  # not the controller's version here
        f"{ROOT}/unified/job/pids.max": "77\n",
    }
    unified = "60 30 0:60 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
    limits = read(linux("4:memory:/job\n0::/job\n", v1("/", "memory") + unified, files))
    assert (limits.memory_limit_bytes, limits.processes_cgroup) == (GIB, 77)


def test_group_outside_the_namespace_leaves_what_is_visible():
    files = {f"{ROOT}/memory.max": f"{2 * GIB}\n", "/sys/other/memory.max": f"{GIB}\n"}
    assert read(linux("0::/../../other\n", V2, files)).memory_limit_bytes == 2 * GIB


def test_mounts_unreadable_falls_back_to_the_usual_place():
    host = FakeHost({"/proc/self/cgroup": "0::/a\n", f"{ROOT}/a/pids.max": "5\n"})
    assert read(host).processes_cgroup == 5


def test_limit_above_the_memory_of_the_machine_limits_nothing():
    assert read(linux("0::/\n", V2, {f"{ROOT}/memory.max": f"{128 * GIB}\n"})).memory_limit_bytes is None


def test_garbage_is_unknown():
    files = {f"{ROOT}/memory.max": "lots\n", f"{ROOT}/cpu.max": "\n", f"{ROOT}/pids.max": ""}
    limits = read(linux("0::/\n", V2, files))
    assert (limits.memory_limit_bytes, limits.cpu_quota, limits.processes_cgroup) == (None, None, None)


def test_shared_memory_ulimits_and_affinity():
    limits = read(
        FakeHost(
            disks={"/dev/shm": Disk(64 << 20, 60 << 20)},
            ulimits={"AS": 4 * GIB, "NOFILE": 1024, "NPROC": -1},
            processors=(64, 8),
        )
    )
    assert (limits.shared_memory_total_bytes, limits.shared_memory_free_bytes) == (64 << 20, 60 << 20)
    assert (limits.address_space_bytes, limits.open_files, limits.processes) == (4 * GIB, 1024, None)
    assert (limits.cpu_count, limits.cpu_affinity_count) == (64, 8)


def home(**more):
    limits = read(FakeHost(**more))
    return limits.home, limits.home_writable, limits.kernel_cache, limits.kernel_cache_writable


def test_home_and_kernel_cache():
    folders = ("/home/me/.nv/ComputeCache",)
    env = {"HOME": "/home/me"}
    cache = "/home/me/.nv/ComputeCache"
    assert home(folders=folders, env=env) == ("/home/me", True, cache, True)
    assert home(folders=folders, env=env, unwritable=(cache,)) == ("/home/me", True, cache, False)
    # not made yet: the nearest folder above decides
    assert home(folders=("/home/me",), env=env) == ("/home/me", True, cache, True)
    assert home(folders=("/home/me",), env=env, unwritable=("/home/me",)) == ("/home/me", False, cache, False)


def test_home_missing():
    assert home(env={"HOME": "/nonexistent"}, unwritable=("/",)) == (
        "/nonexistent",
        False,
        "/nonexistent/.nv/ComputeCache",
        False,
    )
    assert home(env={}) == (None, None, None, None)


def test_kernel_cache_path_and_switch():
    limits = read(
        FakeHost(
            folders=("/scratch", "/home/me"),
            env={"HOME": "/home/me", "CUDA_CACHE_PATH": "/scratch/kernels", "CUDA_CACHE_DISABLE": "1"},
            unwritable=("/home/me",),
        )
    )
    assert (limits.kernel_cache, limits.kernel_cache_writable) == ("/scratch/kernels", True)
    assert limits.kernel_cache_disabled is True
    assert read(FakeHost(env={"CUDA_CACHE_DISABLE": "0"})).kernel_cache_disabled is False


def test_a_file_in_the_way_of_the_cache():
    assert read(FakeHost({"/home/me/.nv": ""}, env={"HOME": "/home/me"})).kernel_cache_writable is False


def test_macos():
    limits = read(
        FakeHost(
            platform="darwin",
            env={"HOME": "/Users/me"},
            folders=("/Users/me",),
            memory=Memory(16 * GIB, 8 * GIB),
            disks={"/dev/shm": Disk(1, 1)},
            processors=(8, None),
        )
    )
    assert limits == Limits(
        cpu_count=8, memory_total_bytes=16 * GIB, memory_available_bytes=8 * GIB, home="/Users/me", home_writable=True
    )


@pytest.mark.parametrize(
    ("env", "cache"),
    [({"APPDATA": "C:\\Users\\me\\AppData"}, "C:\\Users\\me\\AppData\\NVIDIA\\ComputeCache"), ({}, None)],
)
def test_windows(env, cache):
    limits = read(FakeHost(platform="win32", env={"USERPROFILE": "C:\\Users\\me", **env}, user=None))
    assert (limits.home, limits.kernel_cache) == ("C:\\Users\\me", cache)


def test_this_machine():
    with LocalHost(Request()) as host:
        limits = read(host)
    assert limits.cpu_count >= limits.cpu_affinity_count >= 1
    assert 0 < limits.memory_available_bytes <= limits.memory_total_bytes
    assert limits.memory_limit_bytes is None or limits.memory_limit_bytes < limits.memory_total_bytes
    assert limits.open_files is None or limits.open_files > 0


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"folders": ("/var/tmp", "/tmp")}, "/var/tmp/cuda-cache-1000"),
        ({"folders": ("/var/tmp", "/tmp"), "unwritable": ("/var/tmp",)}, "/tmp/cuda-cache-1000"),
        ({"folders": ("/var/tmp/cuda-cache-1000", "/tmp")}, "/tmp/cuda-cache-1000"),  # root's, in this fake: not believed
        ({"folders": ("/var/tmp/cuda-cache-0", "/tmp"), "user": 0}, "/var/tmp/cuda-cache-0"),
        ({"folders": ("/var/tmp", "/tmp", "/me"), "links": {"/var/tmp/cuda-cache-0": "/me"}, "user": 0}, "/tmp/cuda-cache-0"),
        ({"folders": ("/var/tmp", "/scratch")}, "/scratch/cuda-cache-1000"),
        ({}, None),
        ({"folders": ("/tmp",), "user": None}, None),
    ],
)
def test_another_kernel_cache_only_of_this_users_own(more, expected):
    env = {"HOME": "/home/me", "XDG_CACHE_HOME": "/scratch"}
    assert read(FakeHost({"/home/me/.nv": ""}, env=env, **more)).kernel_cache_other == expected
    assert read(FakeHost({"/home/me/x": ""}, env=env, **more)).kernel_cache_other is None  # the cache can be written


def test_processor_time_file_size_and_whose_limit_of_tasks_it_is():
    files = {f"{ROOT}/pids/job/pids.max": "100\n", f"{ROOT}/pids/pids.max": "max\n"}
    limits = read(linux("8:pids:/job\n", v1("/", "pids"), files, ulimits={"CPU": 60, "FSIZE": 0}))
    assert (limits.cpu_seconds, limits.file_size_bytes) == (60, 0)
    assert (limits.processes_cgroup, limits.processes_cgroup_file) == (100, f"{ROOT}/pids/job/pids.max")


def test_kills_for_want_of_memory():
    machine = {"/proc/vmstat": "pgfault 5\noom_kill 3\n"}
    assert oom_kills(linux("0::/job\n", V2, {f"{ROOT}/job/memory.events": "oom 2\noom_kill 1\n", **machine})) == 1
    old = {f"{ROOT}/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", **machine}
    assert oom_kills(linux("4:memory:/\n", v1("/", "memory"), old)) == 2
    assert oom_kills(linux("0::/\n", V2, machine)) == 3
    assert oom_kills(linux("0::/\n", V2, {})) is None
