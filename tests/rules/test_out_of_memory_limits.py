"""Limits of the host, the container and the process."""

import pytest
from one_rule import changed, found, log, only_log, outcome, roots, severity, status

from gpucheck.model import Severity, Status

GIB, MIB = 1 << 30, 1 << 20
HOST, SHM, LIMIT = "host-memory-exhausted", "shared-memory-too-small", "process-limit-too-low"
UNTRAINED = {"training.runs": []}


def small(limit, used, **more):
    return {"limits.memory_limit_bytes": limit, "limits.memory_limit_used_bytes": used, **more}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (small(4 * GIB, GIB // 2), Status.CLEAR),
        (small(4 * GIB, 4 * GIB - 100 * MIB), Status.FOUND),
        ({"limits.memory_available_bytes": 900 * MIB}, Status.FOUND),
        ({"limits.memory_available_bytes": None}, Status.SKIPPED),
    ],
)
def test_room_to_import_tensorflow(changes, expected):
    assert status(HOST, changed(changes, quick=True)) is expected


def test_an_import_that_worked_had_room():
    assert status(HOST, changed(small(2 * GIB, 3 * GIB // 2))) is Status.CLEAR


def ended(how, **more):
    return {"training": {"runs": [], "ending": how, "stage": "steps", **more}}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (ended("killed by SIGKILL", oom_kills=1), HOST),
        (ended("killed by SIGKILL", oom_kills=0), "training-crashed"),
        (ended("killed by SIGKILL"), "training-crashed"),
        ({**ended("killed by SIGKILL"), **small(4 * GIB, GIB)}, HOST),
        ({**ended("killed by SIGKILL", oom_kills=0), **small(4 * GIB, GIB)}, "training-crashed"),
        ({**ended("killed by SIGKILL", oom_kills=0), **small(GIB, GIB // 2)}, HOST),
        (ended("killed by SIGSEGV", oom_kills=1), "training-crashed"),
        ({**ended("killed by SIGXCPU"), "limits.cpu_seconds": 900}, LIMIT),
        ({**ended("killed by SIGKILL", oom_kills=0), "limits.cpu_seconds": 5}, LIMIT),
    ],
)
def test_a_kill_is_put_down_to_memory_only_with_evidence(changes, code):
    assert roots(changed(changes)) == [code]


def test_a_kill_by_nobody_known_names_the_limit_on_processor_time():
    killed = ended("killed by SIGKILL", oom_kills=0)
    finding = found("training-crashed", changed(killed))
    assert finding.summary == 'The training process was killed at the stage "steps" by SIGKILL, by whom is unknown.'
    finding = found("training-crashed", changed({**killed, "limits.cpu_seconds": 900}))
    assert "900 s of processor time (ulimit -t)" in finding.summary
    assert finding.fix[0].command == "ulimit -t unlimited"


def test_the_limit_of_a_control_group_is_raised_by_whoever_set_it():
    limits = {"limits.processes_cgroup": 20, "limits.processes_cgroup_file": "/sys/fs/cgroup/pids/job/pids.max"}
    for around, words in (
        ({"inside": True, "kind": "docker"}, "docker run --pids-limit"),
        ({"inside": True, "kind": "kubernetes"}, "podPidsLimit"),
        ({"inside": False}, "TasksMax"),
    ):
        fixes = found(LIMIT, changed({**limits, "container": around}, quick=True)).fix
        assert words in fixes[0].text
        assert fixes[0].command is None
        assert [fix.command for fix in fixes if fix.command] == ["cat /sys/fs/cgroup/pids/job/pids.max"]


def test_killed_lines_of_a_log():
    assert status(HOST, only_log(("killed", "Killed", {"signal": "SIGKILL"}))) is Status.FOUND
    assert status(HOST, only_log(("killed", "Terminated", {"signal": "SIGTERM"}))) is not Status.FOUND
    assert status(HOST, only_log(("host-out-of-memory", "oom-kill event"))) is Status.FOUND


def shared(size, **more):
    return {"limits.shared_memory_total_bytes": size, **more}


IN_DOCKER = {"container": {"inside": True, "kind": "docker", "gpu_requested": True}}


def test_shared_memory_of_a_container_with_several_gpus():
    plain = changed({**shared(64 * MIB), **IN_DOCKER}, "hgx-h200")
    assert severity(SHM, plain) is Severity.WARNING  # they trained together
    plain = changed({**shared(64 * MIB), **IN_DOCKER}, "hgx-h200", quick=True)
    assert severity(SHM, plain) is Severity.ERROR
    assert "8 GPUs" in found(SHM, plain).summary
    assert severity(SHM, changed({**shared(256 * MIB), **IN_DOCKER}, "hgx-h200", quick=True)) is Severity.WARNING
    assert status(SHM, changed({**shared(512 * MIB), **IN_DOCKER}, "hgx-h200", quick=True)) is Status.CLEAR


def test_shared_memory_is_no_matter_outside_a_container_or_without_a_gpu():
    assert status(SHM, changed(shared(64 * MIB), "hgx-h200")) is Status.CLEAR
    assert status(SHM, changed({**shared(64 * MIB), **IN_DOCKER}, "laptop-cpu")) is Status.CLEAR
    assert status(SHM, changed(shared(None))) is Status.SKIPPED


def test_shared_memory_that_ran_out_is_an_error_and_explains_nccl():
    plain = changed(
        {
            **shared(64 * MIB),
            **IN_DOCKER,
            "training.runs[8].status": "failed",
            "training.runs[8].reason": "InternalError: NCCL: unhandled system error",
            "log": log(("shared-memory-exhausted", "No space left on device: /dev/shm/nccl-x")),
        },
        "hgx-h200",
    )
    assert severity(SHM, plain) is Severity.ERROR
    assert roots(plain) == [SHM]


def test_kubernetes_is_not_told_of_docker():
    plain = changed({**shared(64 * MIB), "container": {"inside": True, "kind": "kubernetes"}})
    assert not any("docker" in fix.text for fix in found(SHM, plain).fix)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"limits.address_space_bytes": 100 * GIB}, Severity.ERROR),
        ({"limits.address_space_bytes": 200 * GIB}, None),
        ({"limits.processes_cgroup": 100}, Severity.WARNING),
        ({"limits.processes_cgroup": 20}, Severity.ERROR),
        ({"limits.processes_cgroup": 4096}, None),
        ({"limits.processes": 100, "system.is_root": False}, Severity.WARNING),
        ({"limits.processes": 100, "system.is_root": True}, None),
        ({"limits.cpu_seconds": 1}, Severity.ERROR),
        ({"limits.cpu_seconds": 86400}, None),
        ({"limits.file_size_bytes": 0}, Severity.ERROR),
        ({"limits.file_size_bytes": 100 * MIB}, Severity.WARNING),
        ({"limits.open_files": 64}, Severity.WARNING),
        ({"limits.open_files": 256}, None),  # the default of macOS
    ],
)
def test_limits_of_a_process(changes, expected):
    plain = changed(changes, quick=True)
    if expected is None:
        assert status(LIMIT, plain) is Status.CLEAR
    else:
        assert severity(LIMIT, plain) is expected


def test_training_that_passed_proves_the_limits():
    assert status(LIMIT, changed({"limits.address_space_bytes": 100 * GIB})) is Status.CLEAR
    cpu_only = {"limits.address_space_bytes": 3 * GIB}
    assert status(LIMIT, changed(cpu_only, "laptop-cpu")) is Status.CLEAR
    assert status(LIMIT, changed({**cpu_only, **UNTRAINED}, "laptop-cpu")) is Status.FOUND


def test_threads_refused_in_a_log():
    assert outcome(LIMIT, only_log(("thread-limit", "pthread_create failed"))).finding is not None


@pytest.mark.parametrize(("code", "kind"), [(SHM, "shared-memory-exhausted"), (LIMIT, "thread-limit")])
def test_lines_of_jobs_that_passed_are_harmless(code, kind):
    assert status(code, changed({"log": log((kind, "a line"))})) is Status.CLEAR
    assert status(code, only_log((kind, "a line"))) is Status.FOUND


NO_THREAD = ("thread-limit", "Check failed: ret == 0 (11 vs. 0) Thread tf_Compute creation via pthread_create() failed.")
NO_ROOM = ("host-out-of-memory", "cannot allocate memory for thread-local data: ABORT")
ABORTED = {"training": {"runs": [], "ending": "killed by SIGABRT", "stage": "first step"}}


def test_training_that_passed_read_no_files():
    assert severity(LIMIT, changed({"limits.open_files": 24}, "laptop-cpu")) is Severity.WARNING
    assert severity(LIMIT, changed({"limits.open_files": 24})) is Severity.WARNING
    assert status(LIMIT, changed({"limits.open_files": 32}, "laptop-cpu")) is Status.CLEAR


def addresses(limit, free, *events, **more):
    """The laptop's training ended under a limit on the address space, with some memory free."""
    seen = {"limits.address_space_bytes": limit, "limits.memory_available_bytes": free, "log": log(*events)}
    return changed({**ABORTED, **seen, **more}, "laptop-cpu")


@pytest.mark.parametrize("event", [NO_THREAD, NO_ROOM, ("host-out-of-memory", "MemoryError")], ids=lambda event: event[0])
@pytest.mark.parametrize("limit", [2 * GIB, 6 * GIB])
def test_an_address_space_below_what_is_free_refused_it(event, limit):
    plain = addresses(limit, 21 * GIB, event)
    assert roots(plain) == [LIMIT]
    finding = found(LIMIT, plain)
    assert f"(ulimit -v) is {limit // GIB}.0 GiB" in finding.summary
    assert finding.fix[0].command == "ulimit -v unlimited"
    assert {evidence.field for evidence in finding.evidence} >= {"address_space_bytes", "events[0].text"}
    assert status(HOST, plain) is Status.CLEAR


def test_an_address_space_above_what_is_free_is_not_blamed():
    for limit in (200 * GIB, None):
        assert roots(addresses(limit, 21 * GIB, NO_ROOM)) == [HOST]
        assert found(LIMIT, addresses(limit, 21 * GIB, NO_THREAD)).fix[0].command == "ulimit -u $(ulimit -H -u)"
    assert roots(addresses(6 * GIB, 21 * GIB, NO_ROOM, **small(8 * GIB, 4 * GIB))) == [HOST]  # a container has less


def test_neither_a_kill_nor_a_job_that_passed_is_put_down_to_the_address_space():
    killed = ("host-out-of-memory", "oom-kill:constraint=CONSTRAINT_MEMCG")
    assert roots(addresses(6 * GIB, 21 * GIB, killed)) == [HOST]
    passed = {"limits.address_space_bytes": 6 * GIB, "limits.memory_available_bytes": 21 * GIB, "log": log(NO_ROOM, NO_THREAD)}
    assert roots(changed(passed, "laptop-cpu")) == []


def test_of_threads_refused_under_two_limits_the_one_on_threads_is_named():
    few = {"limits.processes": 20, "system.is_root": False}
    assert found(LIMIT, addresses(6 * GIB, 21 * GIB, NO_THREAD, **few)).fix[0].command == "ulimit -u $(ulimit -H -u)"


def test_a_run_that_failed_tells_of_the_address_space_without_a_log():
    failed = {"training.runs[0].status": "failed", "training.runs[0].reason": "MemoryError: std::bad_alloc"}
    plain = changed({**failed, "limits.address_space_bytes": 6 * GIB, "limits.memory_available_bytes": 21 * GIB}, "laptop-cpu")
    assert roots(plain) == [LIMIT]
