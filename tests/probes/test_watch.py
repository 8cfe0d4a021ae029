"""Workers that depend on each other and die, hang or are late, with a fake clock: which are blamed, and why."""

import os
import sys
import threading
import time

import psutil
import pytest
from case_files import table

from gpucheck.core.child.messages import Crashed, Stage
from gpucheck.core.child.messages.frameworks import KerasImport, KerasImported, TensorFlowImport, TensorFlowImported
from gpucheck.core.child.messages.struct import replace
from gpucheck.core.child.messages.training import Job, Trained
from gpucheck.core.child.messages.workers import ClusterConnected, FitTried, VersionsRead, WorkerFailed
from gpucheck.core.cluster import reach
from gpucheck.core.cluster.watch import FIT_SECONDS, Clock, Limits, Worker, faults, watch
from gpucheck.core.host import Ending
from gpucheck.core.host.child import LocalChild
from gpucheck.core.host.process import Process

LIMITS = Limits(total=20.0, quiet=1.5, imported=3.0, joined=False, grace=1.0)
JOINED = Limits(total=14.0, quiet=1.0, imported=1.0, joined=True)  # listening workers are checked twice before the end
NEVER = float("inf")


class FakeTime:
    """Time that passes only during sleep, and wakes waiting children."""

    def __init__(self):
        self.seconds = 100.0
        self._passed = threading.Condition()

    def clock(self):
        return Clock(lambda: self.seconds, self.sleep)

    def sleep(self, seconds):
        with self._passed:
            self.seconds += seconds
            self._passed.notify_all()
        time.sleep(0.0005)  # the threads that wait for children run now

    def wait(self, condition):
        with self._passed:
            assert self._passed.wait_for(condition, timeout=60.0)

    def wake(self):
        with self._passed:
            self._passed.notify_all()


class Script:
    """A child that sends each message at its time in seconds from the start, and may end."""

    def __init__(self, time_, messages, *, ends=NEVER, how="finished", stage=None):
        self._time, self._script, self._how, self._stage = time_, messages, how, stage
        self._started, self._ends = time_.seconds, time_.seconds + ends
        self.stopped = False

    def _over(self, kind):
        return self.stopped or self._time.seconds >= self._ends or self.message(kind) is not None

    def _come(self):
        return [message for at, message in self._script if self._started + at <= self._time.seconds]

    def wait_for(self, kind, job="", within=None):
        if within is None:
            self._time.wait(lambda: self._over(kind))
        elif not self._over(kind):
            self.stopped = True
            self._time.wake()
        return self.message(kind)

    def message(self, kind, job=""):
        return next((message for message in self._come() if type(message) is kind), None)

    def progress_count(self):
        return len(self._come())

    def end(self):
        how = "timed out" if self.stopped else self._how
        return Ending(how == "finished", how, self._stage, () if self._stage is None else (self._stage,))

    def log(self, limit=1 << 20):
        return ""


def trained(problem=None):
    return Trained(replace(Job("multi_worker_mirrored", ()).planned_run, status="failed", reason=problem))


IMPORTED = [
    (0.1, TensorFlowImported(TensorFlowImport(imported=True))),
    (0.2, KerasImported(KerasImport(imported=True))),
    (0.3, VersionsRead({})),
]
CONNECTED = [*IMPORTED, (0.4, ClusterConnected())]
TRAINED = [*CONNECTED, (0.6, trained())]
FINE = {"messages": [*TRAINED, (0.7, FitTried(True))], "ends": 0.8}
STEP, FIT = Stage("train", "", "step 1"), Stage("fit")
WAITS = {"messages": CONNECTED, "stage": STEP}
IMPORTING = {"messages": [], "stage": Stage("import")}
CONNECTING = {"messages": IMPORTED, "stage": Stage("connect")}


def failed(problem):
    return {"messages": [*CONNECTED, (0.7, WorkerFailed(problem))], "ends": 0.8, "stage": STEP}


def ended(how, *messages):
    return {"messages": [*CONNECTED, *((0.5, message) for message in messages)], "ends": 0.6, "how": how, "stage": STEP}


LOST = failed("UnavailableError: gone")


def outcome(*scripts, limits=LIMITS, listening=dict, leader=None):
    """The faults of a job with these workers, and its duration in seconds."""
    fake = FakeTime()
    began = fake.seconds
    workers = [Worker(f"worker {index}", Script(fake, **script), fake.clock()) for index, script in enumerate(scripts)]
    watched = watch(workers, limits, listening, fake.clock())
    named = [(fault.worker, fault.how, fault.reason, fault.stage) for fault in faults(workers, watched, leader)]
    return named, fake.seconds - began


@pytest.mark.parametrize(
    "first",
    [FINE, {"messages": TRAINED, "ends": 0.7, "how": "exited with status 3", "stage": FIT}],
    ids=["all well", "fit fails"],
)
def test_job_that_trained_has_no_fault(first):
    named, seconds = outcome(first, FINE)
    assert named == []
    assert seconds < 2.0


@pytest.mark.parametrize(
    ("script", "how", "reason", "stage"),
    [
        (ended("killed by SIGKILL"), "ended", "killed by SIGKILL", "step 1"),
        (ended("TypeError: y", Crashed("TypeError", "y")), "raised", "TypeError: y", "step 1"),
        (failed("ValueError: x"), "raised", "ValueError: x", "step 1"),
        (failed("Could not start gRPC server"), "port taken", "Could not start gRPC server", "step 1"),
        (ended("finished", trained("loss is nan")), "raised", "loss is nan", "verify"),
        (
            {"messages": [(0.1, TensorFlowImported(TensorFlowImport(imported=False, error="no libfoo")))], "ends": 0.2},
            *("raised", "TensorFlow could not be imported: no libfoo", "import"),
        ),
    ],
)
@pytest.mark.parametrize("other", [WAITS, LOST], ids=["waits", "lost"])
def test_failed_worker_is_named_and_the_other_is_stopped(script, how, reason, stage, other):
    named, seconds = outcome(other, script)
    assert named == [("worker 1", how, reason, stage)]
    assert seconds < 3.0  # soon after the grace period


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        (WAITS, IMPORTING, [("worker 1", "stalled", "import")]),  # while the other continued
        (LOST, WAITS, [("worker 1", "stalled", "step 1")]),  # the other one reports it as lost
        (WAITS, WAITS, [("worker 0", "stalled", "step 1"), ("worker 1", "stalled", "step 1")]),  # equally far
        ({"messages": TRAINED, "stage": FIT}, FINE, []),
    ],
    ids=["behind", "lost by the other", "equally far", "in fit"],
)
def test_workers_without_progress(first, second, named):
    faults_, seconds = outcome(first, second)
    assert [(worker, how, stage) for worker, how, _, stage in faults_] == named
    assert seconds < LIMITS.total or not named


@pytest.mark.parametrize(
    ("script", "seconds", "reasons"),
    [
        (IMPORTING, LIMITS.imported, ["no progress for 3 s"]),
        (WAITS, LIMITS.quiet, ["no progress for 2 s"]),
        ({"messages": TRAINED}, FIT_SECONDS, []),
    ],
    ids=["importing", "connected", "in fit"],
)
def test_time_limit_without_progress(script, seconds, reasons):
    named, waited = outcome(script, limits=LIMITS._replace(total=60.0))
    assert [reason for _, _, reason, _ in named] == reasons
    assert seconds < waited < seconds + 1.0


def test_timeout_of_the_run_is_not_called_a_hang():
    limits = LIMITS._replace(total=1.0)
    assert [fault[1:3] for fault in outcome(WAITS, WAITS, limits=limits)[0]] == [("late", "not done in time")] * 2


@table
def test_other_workers_of_a_real_cluster_are_awaited_until_the_limit(answers, how, reason):
    said = [{"OTHER_PROGRAM": reach.OTHER_PROGRAM, "NO_ANSWER": reach.NO_ANSWER}.get(answer, answer) for answer in answers]
    given = iter(said)
    named, seconds = outcome(CONNECTING, limits=JOINED, listening=lambda: {"worker 1": next(given, said[-1])})
    assert [(worker, found_how, stage) for worker, found_how, _, stage in named] == [("worker 1", how, "connect")]
    assert reason in (None, named[0][2])
    assert seconds > JOINED.total  # longer than the limit without progress once the cluster has formed


@pytest.mark.parametrize("other", [None, "refused"])
def test_hung_worker_of_this_run_is_named_while_connecting(other):
    named, _ = outcome(CONNECTING, CONNECTING, listening=lambda: {"worker 0": other, "worker 1": reach.NO_ANSWER})
    reason = "its process on this machine hangs: its port accepts connections but does not respond"
    assert named == [("worker 1", "stalled", reason, "connect")]


def test_task_that_does_not_listen_is_named():
    named, _ = outcome(CONNECTING, CONNECTING, listening=lambda: {"worker 0": None, "worker 1": "refused"})
    assert named == [("worker 1", "missing", "not reachable (nothing listens on its address)", "connect")]


def test_worker_in_the_message_of_tensorflow_is_named():
    problem = "UnavailableError: Error reported from /job:worker/replica:0/task:3: heartbeat timeout"
    assert outcome(failed(problem))[0] == [("worker 3", "lost", problem, "step 1")]


def test_leader_is_named_if_its_heartbeat_times_out():
    problem = (
        "DeadlineExceededError: Collective ops is aborted by: Deadline Exceeded RPC: /tensorflow.CoordinationService/Heartbeat"
    )
    assert outcome(failed(problem), leader="chief 0")[0] == [("chief 0", "lost", problem, "step 1")]


REAL = """
import json, os, signal, time
def end(name, **value): print(json.dumps({"end": name, "job": "", "value": value}), flush=True)
end("TensorFlowImported", outcome={"imported": True}); end("KerasImported", outcome={"imported": True})
end("VersionsRead", versions={}); end("ClusterConnected")
print(json.dumps({"begin": "train", "job": "", "step": "step 1"}), flush=True)
"""


def test_no_real_process_is_left():
    programs = ("time.sleep(600)", "os.kill(os.getpid(), signal.SIGKILL)")
    processes = [Process([sys.executable, "-c", REAL + program], dict(os.environ), report_bytes=1 << 20) for program in programs]
    try:
        workers = []
        for index, process in enumerate(processes):
            child = LocalChild(30.0)
            child.start(lambda process=process: process)
            workers.append(Worker(f"worker {index}", child))
        watched = watch(workers, LIMITS._replace(grace=0.0), dict)
        assert [process.pid for process in processes if process.returncode is None or psutil.pid_exists(process.pid)] == []
        (fault,) = faults(workers, watched)
        assert (fault.worker, fault.how, fault.reason, fault.stage) == ("worker 1", "ended", "killed by SIGKILL", "step 1")
    finally:
        for process in processes:
            process.kill()
            process.close()
