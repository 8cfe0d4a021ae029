"""The last output of a crashed child, in the forms of TensorFlow, C, C++ and Python."""

import os
import sys

import pytest
from case_files import table
from fakes import FakeChild, FakeHost

from gpucheck.core.child.messages.workers import WorkerTask
from gpucheck.core.host.local import LocalHost
from gpucheck.core.logs.last_words import fatal, last_words
from gpucheck.core.model import Request
from gpucheck.core.probes import tensorflow, training

CRASHED = """\
I0000 00:00:1.2    7 cpu_feature_guard.cc:227] This TensorFlow binary is optimized to use available CPU instructions.
F0000 00:00:1.3    7 threadpool.cc:127] Check failed: num_threads >= 1 (-3 vs. 1) \n\
*** Check failure stack trace: ***
    @     0x7f2dbbb1d314  absl::lts_20250814::log_internal::LogMessage::SendToLog()
Fatal Python error: Aborted

Thread 0x00007f2dc321c6c0 (most recent call first):
  File "/app/other.py", line 78 in _watch

Current thread 0x00007f2dc3e71b80 (most recent call first):
  File "/venv/lib/python3.11/site-packages/tensorflow/python/eager/context.py", line 726 in ensure_initialized
  File "/app/train.py", line 3 in <module>

Extension modules: numpy._core._multiarray_umath (total: 1)
"""
WORDS = (
    "F0000 00:00:1.3    7 threadpool.cc:127] Check failed: num_threads >= 1 (-3 vs. 1)",
    'File "tensorflow/python/eager/context.py", line 726 in ensure_initialized',
    'File "/app/train.py", line 3 in <module>',
)


def of(log, how="killed by SIGABRT"):
    return last_words(FakeChild(how=how, log=log))


def test_last_words_are_the_failed_check_and_the_stack_of_its_thread():
    assert of(CRASHED) == WORDS


@pytest.mark.parametrize("how", ["timed out", "finished", "ValueError: x", "could not be killed"])
def test_only_a_crashed_child_has_last_words(how):
    assert of(CRASHED, how) == ()


@table
def test_fatal_lines_are_last_words_with_a_reason(line, why):
    ending = "Fatal Python error: Aborted\n\nCurrent thread 0x01 (most recent call first):\n  <no Python frame>\n"
    assert of(f"{line}\n{ending}") == (line.strip(),)
    assert fatal(line) == why


@pytest.mark.parametrize(
    "log", ["", "Fatal Python error: Segmentation fault\n", "E0000 00:00:1.3    7 a.cc:1] Check failed\n", "F"]
)
def test_logs_without_fatal_lines_have_no_last_words(log):
    assert of(log, "killed by SIGSEGV") == ()


def test_facts_have_the_last_words():
    host = FakeHost(children={"framework": FakeChild(how="killed by SIGABRT", stage="import", log=CRASHED)})
    assert tensorflow.read(host).last_words == training.read(host).last_words == WORDS


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_last_words_of_a_real_crash(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow/__init__.py").write_text("import os\ndef crash():\n    os.abort()\ncrash()\n")
    with LocalHost(Request(timeout_seconds=60), env={**os.environ, "PYTHONPATH": str(tmp_path)}) as host:
        fact = training.read(host)
        worker = host.child(WorkerTask("multi_worker_mirrored", "{}", "worker 0", (), False))
        ending, calls = worker.end().how, last_words(worker)
    assert fact.ending == ending == "killed by SIGABRT"
    assert fact.last_words[0] == calls[0] == f'File "{tmp_path}/tensorflow/__init__.py", line 3 in crash'
