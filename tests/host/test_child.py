"""Stages of a child as its parent sees them: whole, cut short, garbled."""

import os
import sys
import time
import tracemalloc

import pytest

from gpucheck.host.child import LocalChild, child_argv, child_env
from gpucheck.host.process import Process
from gpucheck.model import Request


@pytest.fixture
def child():
    started = []

    def factory(code, limit=20.0):
        process = Process([sys.executable, "-c", "import json, os, sys, time\n" + code], dict(os.environ), lifeline=True)
        started.append(process)
        local = LocalChild(limit)
        local.start(lambda: process)
        return local

    yield factory
    for process in started:
        process.kill()
        process.close()


SAY = "def say(**entry): print(json.dumps(entry), flush=True)\n"


def test_stages_arrive_while_the_child_works(child):
    one = child(
        SAY
        + "say(begin='a'); say(end='a', value={'x': 1}); sys.stdin.readline(); say(end='b', value=2); say(end='done', value=None)"
    )
    assert one.until("a") == {"x": 1}
    assert "b" not in one.stages()
    one.tell({"go": True})
    assert one.until("b") == 2
    assert one.end()[:3] == (True, "finished", None)


def test_a_crash_keeps_what_was_said_and_names_the_stage(child):
    one = child(SAY + "say(end='a', value=1); say(begin='gpu 3'); os.kill(os.getpid(), 11)")
    assert one.until("gpu 3") is None
    assert one.until("a") == 1
    assert one.end()[:3] == (False, "killed by SIGSEGV", "gpu 3")


def test_a_hang_ends_at_the_limit(child):
    one = child(SAY + "say(begin='init'); time.sleep(600)", limit=1.0)
    began = time.monotonic()
    assert one.until("init") is None
    assert time.monotonic() - began < 4
    assert one.end()[:3] == (False, "timed out", "init")


def test_a_step_inside_a_stage_ends_with_it(child):
    one = child(SAY + "say(begin='train'); say(begin='train: steps'); say(end='train', value=1); say(end='done', value=None)")
    assert one.end()[:3] == (True, "finished", None)


def test_garbage_is_no_stage(child):
    one = child('os.write(1, b\'\\xff\\x00{]\\n{"end": 3}\\n[1]\\n"text"\\n{"end": "cut", "val\')')
    assert one.stages() == {}
    assert one.end()[:3] == (False, "ended without a word", None)


def test_success_without_the_last_word_is_no_success(child):
    one = child(SAY + "say(end='a', value=1)")
    assert one.end()[:3] == (False, "ended without a word", None)


def test_a_child_that_was_never_started_says_why():
    def refuse():
        raise OSError("no such file")

    one = LocalChild(10.0)
    one.start(refuse)
    assert one.until("a") is None
    assert one.end()[:3] == (False, "not started: no such file", None)
    assert one.log() == ""


def test_examining_children_run_as_the_users_program_would():
    argv = child_argv(Request(python="/opt/python"), "framework", ("{}",))
    assert argv[0] == "/opt/python"
    assert "-I" not in argv
    assert child_argv(Request(python="/opt/python"), "nvml", ())[:3] == [sys.executable, "-I", "-S"]


def test_the_users_environment_is_kept_and_tensorflow_un_silenced():
    env = child_env(
        Request(),
        {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_CPP_MAX_VLOG_LEVEL": "3", "TF_CPP_VMODULE": "foo=2", "LD_LIBRARY_PATH": "/x"},
        "framework",
    )
    assert env["TF_CPP_MIN_LOG_LEVEL"] == "0"
    assert "TF_CPP_MAX_VLOG_LEVEL" not in env
    assert env["TF_CPP_VMODULE"] == "foo=2,dso_loader=1"
    assert env["LD_LIBRARY_PATH"] == "/x"
    assert env["TPU_SKIP_MDS_QUERY"] == "1"
    assert child_env(Request(), {"TPU_SKIP_MDS_QUERY": "0"}, "framework")["TPU_SKIP_MDS_QUERY"] == "0"
    assert child_env(Request(backend="jax"), {"A": "b"}, "nvml") == {"A": "b"}


def test_keras_is_told_the_backend_that_was_asked_for():
    told = {"KERAS_BACKEND": "jax"}
    for name in ("framework", "backend", "worker", "bench"):
        assert child_env(Request(backend="tensorflow"), told, name)["KERAS_BACKEND"] == "tensorflow"
        assert child_env(Request(), told, name)["KERAS_BACKEND"] == "jax"
    assert "KERAS_BACKEND" not in child_env(Request(), {}, "framework")


def test_a_child_that_writes_without_end_is_stopped(child):
    one = child(SAY + "say(end='a', value=1)\nwhile True: os.write(1, b'x' * 65536)")
    assert one.until("b") is None
    assert one.stages() == {"a": 1}
    assert one.end()[:2] == (False, "stopped: it wrote more than 4 MiB to its standard output")


def test_a_child_that_wrote_too_much_is_not_believed_and_not_kept(child):
    one = child(SAY + "os.write(1, b'x' * 30000000); say(end='done', value=None)")
    tracemalloc.start()
    try:
        assert one.end()[:2] == (False, "stopped: it wrote more than 4 MiB to its standard output")
        assert one.stages() == {}
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()


def test_a_long_line_comes_whole(child):
    one = child(SAY + "say(end='a', value='x' * 3000000); say(end='done', value=None)")
    assert len(one.until("a")) == 3000000
    assert one.end().ok
