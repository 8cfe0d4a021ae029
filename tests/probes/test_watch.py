"""Workers that depend on each other, as real processes that die, hang and are late: who is named, when, and that none is left."""

import os
import sys
import time

import psutil
import pytest

from gpucheck.cluster import reach as _reach
from gpucheck.cluster.watch import Limits, Worker, faults, watch
from gpucheck.host.child import LocalChild
from gpucheck.host.process import Process

LIMITS = Limits(whole=20.0, quiet=1.5, imported=3.0, joined=False, grace=1.0)
START = """
import json, os, signal, sys, time
def begin(stage): print(json.dumps({"begin": stage}), flush=True)
def end(stage, value=None): print(json.dumps({"end": stage, "value": value}), flush=True)
def come_to(stage):
    begin("import"); end("import", {"imported": True}); end("keras", {"imported": True}); end("versions", {})
    if stage != "versions":
        begin("connect"); end("connect", {}); begin("train"); begin("step 1")
def hang(): time.sleep(600)
"""
FINE = "come_to('step'); end('step 1'); end('train', {'problem': None}); end('fit', {}); end('done')"
WAITS = "come_to('step'); hang()"
LOST = "come_to('step'); time.sleep(.3); end('failed', {'stage': 'step 1', 'problem': 'UnavailableError: gone'}); end('done')"


@pytest.fixture
def outcome():
    """What becomes of two workers with these programs; afterwards neither may be there."""
    started = []

    def run(*programs, limits=LIMITS, listening=dict):
        for program in programs:
            started.append(Process([sys.executable, "-c", START + program], dict(os.environ), lifeline=True))
        workers = [Worker(f"worker {index}", LocalChild(process, 30.0)) for index, process in enumerate(started)]
        watched = watch(workers, limits, listening)
        assert [process.pid for process in started if process.returncode is None or psutil.pid_exists(process.pid)] == []
        return [(fault.worker, fault.how, fault.reason, fault.stage) for fault in faults(workers, watched)]

    yield run
    for process in started:
        process.kill()
        process.close()


def test_all_is_well(outcome):
    assert outcome(FINE, FINE) == []


def test_what_becomes_of_fit_is_no_fault(outcome):
    assert outcome(FINE.partition("end('fit'")[0] + "begin('fit'); os._exit(3)", FINE) == []


@pytest.mark.parametrize(
    ("act", "how", "reason"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "ended", "killed by SIGKILL"),
        ("os._exit(3)", "ended", "exited with status 3"),
        ("os._exit(0)", "ended", "ended without a word"),
        ("end('failed', {'stage': 'step 1', 'problem': 'ValueError: x'}); end('done')", "raised", "ValueError: x"),
        ("end('crashed', {'type': 'TypeError', 'message': 'y'}); os._exit(70)", "raised", "TypeError: y"),
        ("end('train', {'problem': 'the loss is not finite'}); end('done')", "raised", "the loss is not finite"),
    ],
)
@pytest.mark.parametrize("other", [WAITS, LOST])
def test_the_one_that_failed_is_named_and_the_other_is_ended(outcome, act, how, reason, other):
    ((worker, *told),) = outcome(other, f"come_to('step'); {act}")
    assert (worker, told[:2]) == ("worker 1", [how, reason])
    assert told[2] == ("verify" if "loss" in reason else "step 1")


def test_a_package_that_is_missing_in_one_of_them(outcome):
    told = outcome(WAITS, "begin('import'); end('import', {'imported': False, 'error': 'no libfoo'}); end('done')")
    assert told == [("worker 1", "raised", "TensorFlow could not be imported: no libfoo", "import")]


def test_one_that_stands_still_while_the_other_has_gone_on(outcome):
    ((worker, how, reason, stage),) = outcome(WAITS, "begin('import'); hang()")
    assert (worker, how, stage) == ("worker 1", "stood still", "import")
    assert reason.startswith("stood still for ")


def test_one_that_stands_still_while_the_other_was_told_so(outcome):
    ((worker, how, _, stage),) = outcome(LOST, WAITS)
    assert (worker, how, stage) == ("worker 1", "stood still", "step 1")


def test_nobody_knows_who_of_two_that_are_equally_far(outcome):
    assert [told[:2] for told in outcome(WAITS, WAITS)] == [("worker 0", "stood still"), ("worker 1", "stood still")]


def test_who_does_not_listen_keeps_the_cluster_from_forming(outcome):
    connecting = "come_to('versions'); begin('connect'); hang()"
    answers = {"worker 0": None, "worker 1": "refused"}
    told = outcome(connecting, connecting, listening=lambda: answers)
    assert told == [("worker 1", "missing", "did not come (nobody listens on its address)", "connect")]


CONNECTING = "come_to('versions'); begin('connect'); hang()"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("refused", ("worker 1", "missing", "did not come (nobody listens on its address)", "connect")),
        ("timed out", ("worker 1", "missing", "did not come (timed out)", "connect")),
        (_reach.OTHER, ("worker 1", "other program", _reach.OTHER, "connect")),
        (_reach.MUTE, ("worker 1", "no answer", _reach.MUTE, "connect")),
        (None, ("worker 1", "apart", "came, and yet the cluster did not form", "connect")),
    ],
)
def test_the_others_of_a_real_cluster_are_waited_for_to_the_limit(outcome, answer, fault):
    began = time.monotonic()
    limits = Limits(whole=4.0, quiet=1.0, imported=1.0, joined=True)
    assert outcome(CONNECTING, limits=limits, listening=lambda: {"worker 1": answer}) == [fault]
    assert time.monotonic() - began > 4.0  # longer than anybody may be quiet once the cluster stands


@pytest.mark.parametrize(
    ("first", "later", "how"),
    [
        (None, "refused", "apart"),
        (None, _reach.MUTE, "no answer"),
        (_reach.MUTE, "refused", "no answer"),
        (_reach.MUTE, None, "apart"),
        ("refused", _reach.MUTE, "no answer"),
    ],
    ids=[
        "ends with its own limit",
        "is stopped",
        "is stopped and ends with its own limit",
        "goes on",
        "starts to listen and hangs",
    ],
)
def test_one_that_was_so_and_then(outcome, first, later, how):
    answers = iter([first])
    limits = Limits(whole=6.5, quiet=1.0, imported=1.0, joined=True)
    ((worker, told, _, _),) = outcome(CONNECTING, limits=limits, listening=lambda: {"worker 1": next(answers, later)})
    assert (worker, told) == ("worker 1", how)


@pytest.mark.parametrize("other", [None, "refused"])
def test_one_of_this_run_that_hangs_while_it_connects(outcome, other):
    answers = {"worker 0": other, "worker 1": _reach.MUTE}
    reason = "its process on this machine hangs: its port takes connections and does not answer"
    assert outcome(CONNECTING, CONNECTING, listening=lambda: answers) == [("worker 1", "stood still", reason, "connect")]


def test_the_other_is_named_from_what_tensorflow_says(outcome):
    problem = "UnavailableError: Error reported from /job:worker/replica:0/task:3: heartbeat timeout"
    told = outcome(f"come_to('step'); end('failed', {{'stage': 'step 1', 'problem': '{problem}'}}); end('done')")
    assert told == [("worker 3", "lost", problem, "step 1")]


def test_out_of_time_is_no_hang(outcome):
    limits = LIMITS._replace(whole=1.0)
    assert [told[1:3] for told in outcome(WAITS, WAITS, limits=limits)] == [("late", "not done in time")] * 2
