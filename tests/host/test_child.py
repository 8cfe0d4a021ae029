"""A child's report in its parent: complete, truncated, garbled, forged; and how a child is started."""

import json
import os
import sys
import time
import tracemalloc

import pytest
from case_files import table
from msgspec.structs import astuple

from gpucheck.core.child.messages import Done, Stage, Task
from gpucheck.core.child.messages.benchmark import BenchJob, Configuration
from gpucheck.core.child.messages.drivers import Gpu, GpuProcess, GpuRead, GpuSample, NvmlTask, Sampled
from gpucheck.core.child.messages.frameworks import BackendTask, Device, DevicesListed, FrameworkTask, LibrariesMapped
from gpucheck.core.child.messages.struct import replace, to_builtins
from gpucheck.core.child.messages.training import FreeMemory, Job, Loss, Planned, Trained
from gpucheck.core.child.messages.workers import WorkerTask
from gpucheck.core.host.child import Inbox, LocalChild
from gpucheck.core.host.children import child_argv, child_env
from gpucheck.core.host.process import Process
from gpucheck.core.model import Request

LINES = """
import json, os, sys, time
def say(**entry): print(json.dumps(entry), flush=True)
def begin(stage, job="", step=""): say(begin=stage, job=job, step=step)
def end(name, value={}, job=""): say(end=name, job=job, value=value)
"""


@pytest.fixture
def child():
    started = []

    def factory(code, limit=20.0):
        process = Process([sys.executable, "-c", LINES + code], dict(os.environ), report_bytes=Task.report_bytes)
        started.append(process)
        local = LocalChild(limit)
        local.start(lambda: process)
        return local

    yield factory
    for process in started:
        process.kill()
        process.close()


def test_messages_arrive_while_the_child_works(child):
    one = child(
        "end('LibrariesMapped', {'paths': {'a': 'b'}}); free = json.loads(sys.stdin.readline())\n"
        "end('DevicesListed', {'devices': [], 'problem': str(free)}); end('Done')"
    )
    assert one.wait_for(LibrariesMapped) == LibrariesMapped({"a": "b"})
    assert one.message(DevicesListed) is None
    one.send(FreeMemory({"0": 7}))
    assert one.wait_for(DevicesListed) == DevicesListed((), "{'free_bytes': {'0': 7}}")
    assert astuple(one.end())[:3] == (True, "finished", None)


@table
def test_ending_names_the_stage(child, code, limit, how, stage):
    one = child("end('DevicesListed', {'devices': []})\n" + code, limit)
    began = time.monotonic()
    assert one.wait_for(GpuRead, "3") is None
    assert time.monotonic() - began < 4
    ending = one.end()
    assert (ending.ok, ending.how, str(ending.stage)) == (False, how, stage)
    assert list(map(str, ending.open)) == ([] if stage == "None" else [stage])  # a step is reported as its stage
    assert one.message(DevicesListed) == DevicesListed(())


def test_lines_that_are_not_messages_are_skipped(child):
    """The user's start-up code may write before the child."""
    one = child('os.write(1, b\'\\xff\\x00{]\\n[1]\\n"text"\\n{"a": 1}\\n\' + b"[" * 99999 + b"\\n"); end("Done")')
    assert astuple(one.end())[:3] == (True, "finished", None)


@table
def test_forged_report_stops_the_child_with_a_clear_problem(child, line, words):
    began = time.monotonic()
    one = child(f"end('LibrariesMapped', {{'paths': {{}}}}); say(**{line!r}); end('Done'); time.sleep(600)")
    assert one.wait_for(Done) is None
    ending = one.end()
    assert time.monotonic() - began < 8  # the child is stopped without waiting
    assert not ending.ok
    assert ending.how.startswith("stopped: its report can't be read: ")
    assert words in ending.how
    assert len(ending.how) < 300
    assert one.message(LibrariesMapped) == LibrariesMapped({})


RUN = replace(Job("mirrored", ("GPU:0", "GPU:1")).planned_run, loss=Loss(first=2.5), misplaced_ops=("a",))


@pytest.mark.parametrize(
    "message",
    [
        Trained(RUN),
        Trained(replace(RUN, first_step_seconds=float("inf"))),
        Planned((Job("one_device", ("CPU:0",)), Job("tpu", (), skip="no TPU"))),
        GpuRead(Gpu(index=3, compute_capability=(9, 0), processes=(GpuProcess(pid=7, name="python"),))),
        DevicesListed((Device(name="GPU:0", kind="GPU", description="NVIDIA H200", compute_capability=(9, 0)),)),
        Sampled(1.5, (GpuSample(), GpuSample(98, 410.2, 1980, 0x40))),
    ],
    ids=lambda message: type(message).__name__,
)
def test_message_arrives_unchanged(message):
    inbox = Inbox()
    inbox.take(json.dumps({"end": type(message).__name__, "job": "a", "value": to_builtins(message)}).encode() + b"\n")
    assert inbox.problem is None
    assert inbox.messages(type(message)) == {"a": message}


def test_task_arrives_unchanged():
    job = BenchJob(0, [Configuration("one_device", ("CPU:0",), "float32", False, 4)], "synthetic", 2, 1, 3, None, None)
    received = BenchJob(**json.loads(json.dumps(to_builtins(job))))
    assert [configuration.id for configuration in received.configurations] == ["one_device on 1 CPU, float32, batch 4"]


def test_ending_of_a_child_that_failed_to_start_has_the_reason():
    def refuse():
        raise OSError("no such file")

    one = LocalChild(10.0)
    one.start(refuse)
    assert one.wait_for(Done) is None
    assert astuple(one.end())[:3] == (False, "not started: no such file", None)
    assert one.log() == ""


def test_text_of_a_stage():
    assert str(Stage("train", "one_device GPU:0 float32", "first step")) == "train one_device GPU:0 float32: first step"
    assert Job("mirrored", ("GPU:0", "GPU:1"), compiled=True).id == "mirrored GPU:0,GPU:1 float32 xla"


def test_interpreter_options_of_children():
    argv = child_argv(Request(python="/opt/python"), FrameworkTask, "{}")
    assert argv[0] == "/opt/python"
    assert "-I" not in argv
    assert argv[-2:] == ["training.framework", "{}"]
    assert child_argv(Request(python="/opt/python"), NvmlTask, "{}")[:3] == [sys.executable, "-I", "-S"]


def test_environment_is_kept_except_for_tensorflow_log_levels():
    given = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_CPP_MAX_VLOG_LEVEL": "3", "TF_CPP_VMODULE": "foo=2", "LD_LIBRARY_PATH": "/x"}
    env = child_env(Request(), given, FrameworkTask)
    assert env["TF_CPP_MIN_LOG_LEVEL"] == "0"
    assert "TF_CPP_MAX_VLOG_LEVEL" not in env
    assert env["TF_CPP_VMODULE"] == "foo=2,dso_loader=1"
    assert env["LD_LIBRARY_PATH"] == "/x"
    assert env["TPU_SKIP_MDS_QUERY"] == "1"
    assert child_env(Request(), {"TPU_SKIP_MDS_QUERY": "0"}, FrameworkTask)["TPU_SKIP_MDS_QUERY"] == "0"
    assert child_env(Request(backend="jax"), {"A": "b"}, NvmlTask) == {"A": "b"}


def test_keras_gets_the_requested_backend():
    given = {"KERAS_BACKEND": "jax"}
    for kind in (FrameworkTask, BackendTask, WorkerTask):
        assert child_env(Request(backend="tensorflow"), given, kind)["KERAS_BACKEND"] == "tensorflow"
        assert child_env(Request(), given, kind)["KERAS_BACKEND"] == "jax"
    assert "KERAS_BACKEND" not in child_env(Request(), {}, FrameworkTask)


def test_child_with_endless_output_is_stopped(child):
    one = child("end('LibrariesMapped', {'paths': {}})\nwhile True: os.write(1, b'x' * 65536)")
    assert one.wait_for(Done) is None
    assert one.message(LibrariesMapped) == LibrariesMapped({})
    assert astuple(one.end())[:2] == (False, "stopped: it wrote more than 4 MiB to its standard output")


def test_too_long_output_is_discarded_and_not_kept_in_memory(child):
    one = child("os.write(1, b'x' * 30000000); end('Done')")
    tracemalloc.start()
    try:
        assert astuple(one.end())[:2] == (False, "stopped: it wrote more than 4 MiB to its standard output")
        assert one.message(Done) is None
        assert tracemalloc.get_traced_memory()[1] < 12 << 20
    finally:
        tracemalloc.stop()


def test_long_line_arrives_completely(child):
    one = child("end('LibrariesMapped', {'paths': {'a': 'x' * 3000000}}); end('Done')")
    assert len(one.wait_for(LibrariesMapped).paths["a"]) == 3000000
    assert one.end().ok


def test_waiting_threads_continue_if_a_signal_interrupts_the_start():
    child = LocalChild(60.0)  # how long they would wait otherwise
    started = time.monotonic()
    with pytest.raises(SystemExit):
        child.start(lambda: sys.exit(143))
    assert not child.end().ok
    assert time.monotonic() - started < 50
