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


@pytest.mark.parametrize(("ending", "code"), [("killed by SIGKILL", HOST), ("killed by SIGSEGV", "training-crashed")])
def test_only_sigkill_is_the_out_of_memory_killer(ending, code):
    plain = changed({"training.runs": [], "training.ending": ending, "training.stage": "steps"})
    assert roots(plain) == [code]


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
