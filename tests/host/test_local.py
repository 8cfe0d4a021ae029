"""This machine as a ``Host``."""

import os
import sys
import threading
import time

import psutil
import pytest
from case_files import table
from msgspec.structs import astuple

from gpucheck.core.child.messages.machine import InterpreterTask
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes._loader import Loader


@pytest.fixture
def host():
    with LocalHost(Request(timeout_seconds=60)) as opened:
        yield opened


def test_files_are_read_listed_and_examined(host, tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"text \xff")
    assert host.read(str(file)) == "text �"
    assert host.read_bytes(str(file), offset=2, size=2) == b"xt"
    assert host.read(str(tmp_path / "absent")) is None
    assert host.read(str(tmp_path)) is None
    assert host.names(str(tmp_path)) == ["a"]
    assert host.names("/no/such/folder") == []
    assert host.glob(str(tmp_path / "*")) == [str(file)]
    assert host.stat(str(file)).size_bytes == 6
    assert host.stat("/dev/null").kind == "character device"
    assert host.stat("/no\0where") is None


def test_only_existing_folders_are_writable(host, tmp_path):
    assert host.writable(str(tmp_path))
    assert not host.writable(str(tmp_path / "absent"))
    (tmp_path / "file").touch()
    assert not host.writable(str(tmp_path / "file"))


def test_programs_exit_time_out_or_fail_to_start(host):
    done = host.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert astuple(done)[:4] == ("exited", 3, "out\n", "err\n")
    assert host.run(["no-such-program"]).ending == "not found"
    assert host.run(["/etc/passwd"]).ending.startswith("not started")
    began = time.monotonic()
    assert host.run(["sleep", "60"], timeout=0.3).ending == "timed out"
    assert time.monotonic() - began < 3


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_ended_programs_leave_no_open_files_and_are_not_signaled_again(host):
    host.run(["true"])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        host.run(["true"])
    assert len(os.listdir("/proc/self/fd")) == before
    assert host.started.processes == []


def test_output_is_kept_up_to_a_limit(host):
    argv = [sys.executable, "-c", "print('x' * (2 << 20))"]
    short, whole = host.run(argv), host.run(argv, kept_bytes=4 << 20)
    assert len(short.stdout) < 2 << 20 < len(whole.stdout)
    assert (short.cut, whole.cut) == (True, False)


def test_own_interpreter_is_examined_without_a_child(host):
    assert host.interpreter().executable == sys.executable
    assert len(set(host.interpreter().path)) == len(host.interpreter().path)
    assert host.started.shared == {}


def test_another_interpreter_is_examined():
    with LocalHost(Request(python=sys.executable)) as opened:
        assert opened.interpreter().version == ".".join(map(str, sys.version_info[:3]))


def test_program_that_is_not_an_interpreter_is_reported():
    with LocalHost(Request(python="/bin/true")) as opened:
        assert opened.interpreter() == "ended unexpectedly"


def test_threads_share_one_child(host):
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(host.child(InterpreterTask()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, seen))) == 1


def test_no_child_starts_after_the_end_of_the_run():
    with LocalHost(Request()) as opened:
        pass
    assert opened.child(InterpreterTask()).end().how == "not started: the run has ended"


def test_time_is_reserved_for_the_report():
    with LocalHost(Request(timeout_seconds=8), started=time.monotonic() - 7) as late:
        assert late.remaining() == 0
    with LocalHost(Request(timeout_seconds=8)) as fresh:
        assert 6 < fresh.remaining() <= 6.5


def test_ulimits_processors_and_memory(host):
    assert host.ulimit("NOFILE") > 0
    assert host.ulimit("NO_SUCH_LIMIT") is None
    total, allowed = host.processors()
    assert total >= allowed >= 1
    assert host.memory().total_bytes == psutil.virtual_memory().total
    assert host.memory().available_bytes == pytest.approx(psutil.virtual_memory().available, rel=0.1)


def test_reading_a_named_pipe_does_not_block(tmp_path):
    path = str(tmp_path / "libcudnn.so.9")
    os.mkfifo(path)
    answers = []
    host = LocalHost(Request())
    thread = threading.Thread(target=lambda: answers.append(host.read_bytes(path)), daemon=True)
    thread.start()
    thread.join(5)
    assert answers == [None]
    loader = Loader(LocalHost(Request(), env={"LD_LIBRARY_PATH": str(tmp_path)}), None)
    assert loader.find("libcudnn.so.9").problem == "not a library"


def test_interpreter_broken_by_a_user_module_names_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise RuntimeError")
    with LocalHost(Request(python=sys.executable)) as host:
        assert host.interpreter().startswith(f"{tmp_path}/json.py shadows Python's own module json: rename it")


@table
def test_too_old_or_invalid_interpreter_is_reported(tmp_path, script, problem):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    with LocalHost(Request(python=str(python))) as host:
        assert host.interpreter().startswith(problem)
