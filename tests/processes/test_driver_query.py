"""What is concluded from how a child fared that asked the driver."""

import pytest
from fakes import FakeChild, FakeHost

from gpucheck.child.messages.drivers import DriverStarted, LibraryLoaded
from gpucheck.processes.driver_query import query_driver, time_limit

LOADED = LibraryLoaded("loaded", "/usr/lib/libcuda.so.1")


def query(child, seconds=20.0, doing=None):
    return query_driver(child, doing or {}, (DriverStarted,), seconds)


@pytest.mark.parametrize(("remaining", "seconds"), [(118.0, 20.0), (10.0, 8.0), (0.0, 0.0)])
def test_a_part_of_what_remains_is_kept(remaining, seconds):
    assert time_limit(FakeHost(remaining=remaining)) == seconds


@pytest.mark.parametrize(
    ("child", "status", "problem"),
    [
        (
            FakeChild(how="killed by SIGKILL", stage="odd"),
            "crashed",
            "the process that asked was killed by SIGKILL in the stage odd",
        ),
        (
            FakeChild(LOADED, how="exited with status 1", log="a\n\nb " + "x" * 300),
            "crashed",
            "the process that asked exited with status 1 between stages; its last words: b " + "x" * 198,
        ),
        (FakeChild(how="timed out", stage="init"), "hung", "no answer within 20 s in nvmlInit"),
        (
            FakeChild(LOADED, how="could not be killed", stage="init"),
            "hung",
            "no answer within 20 s in nvmlInit; the process that asked can't be killed: it is stuck in the kernel",
        ),
        (FakeChild(LOADED, DriverStarted(9, "NVML_ERROR_X", "words")), "failed", "words"),
        (FakeChild(LibraryLoaded("library-not-found", problem="no file")), "library-not-found", "no file"),
        (FakeChild(LOADED, DriverStarted()), "ok", None),
    ],
)
def test_what_a_child_came_to(child, status, problem):
    found = query(child, doing={"init": "in nvmlInit"})
    assert (found.status, found.problem) == (status, problem)
    assert found.stopped_in == child.end().stage


@pytest.mark.parametrize(
    ("child", "seconds", "problem"),
    [
        # its report's file may not grow (ulimit -f 0), or no thread can be started
        (FakeChild(how="exited with status 120"), 20.0, "exited with status 120 before it opened any library"),
        (FakeChild(how="not started: no memory"), 20.0, "the driver could not be asked: not started: no memory"),
        (FakeChild(how="stopped: its report can't be read: x"), 20.0, "the driver could not be asked: stopped: its report"),
        (FakeChild(how="timed out", stage="init"), 3.9, "^no answer within 3.9 s in the stage init: too short a time to blame"),
        # it never came to ask
        (FakeChild(how="timed out"), 20.0, "^no answer within 20 s between stages: too short a time to blame the driver"),
        (FakeChild(how="timed out", stage="init", starved=True), 20.0, "in the stage init: this machine gave it no time to run"),
    ],
)
def test_what_is_no_fault_of_the_driver(child, seconds, problem):
    with pytest.raises(RuntimeError, match=problem):
        query(child, seconds)
