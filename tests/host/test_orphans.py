"""Processes that a child left in their own session end with the run; foreign processes do not."""

import os
import signal
import subprocess
import sys
import textwrap

import psutil
import pytest
from case_files import program
from leftovers import VARIABLE, leftovers, leftovers_after

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")

LEAVES = program("orphans_leaves.py")


@pytest.fixture
def surroundings(tmp_path):
    """An environment whose Python leaves processes running when TensorFlow is imported."""
    (tmp_path / "tensorflow.py").write_text(LEAVES + "raise ImportError('no')\n")
    yield {**os.environ, VARIABLE: str(tmp_path), "PYTHONPATH": str(tmp_path)}
    for pid in leftovers(str(tmp_path)):
        os.kill(pid, signal.SIGKILL)


def test_processes_in_their_own_session_are_ended(surroundings):
    argv = [sys.executable, "-m", "gpucheck", "--no-smoke", "--allow-cpu", "--timeout", "30"]
    done = subprocess.run(argv, env=surroundings, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1, done.stderr
    assert leftovers_after(surroundings[VARIABLE], 2.0) == []


def test_foreign_processes_are_not_killed(surroundings):
    """A shell starts a program in the background and then becomes gpucheck, so that the program is gpucheck's child."""
    line = 'sleep 50 & exec "$@"'
    argv = ["/bin/sh", "-c", line, "sh", sys.executable, "-m", "gpucheck", "--no-smoke", "--allow-cpu", "--timeout", "30"]
    process = subprocess.Popen(argv, env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.wait(60) == 1
    process.stderr.close()
    (left,) = leftovers(surroundings[VARIABLE])
    assert psutil.Process(left).cmdline() == ["sleep", "50"]


def test_command_of_run_is_not_a_subreaper(surroundings):
    """Its orphans go to the init process, as for any program."""
    printed_flag = "import ctypes; n = ctypes.c_int(); ctypes.CDLL(None).prctl(37, ctypes.byref(n), 0, 0, 0); print(n.value)"
    argv = [sys.executable, "-m", "gpucheck", "run", "--on-fail", "warn", "--allow-cpu", "--", sys.executable, "-c", printed_flag]
    done = subprocess.run(argv, env={**surroundings, "PYTHONPATH": ""}, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_children_of_a_program_that_uses_gpucheck_are_not_killed(tmp_path):
    program = textwrap.dedent("""
        import subprocess, gpucheck
        other = subprocess.Popen(["sleep", "50"])
        gpucheck.check(level="quick", allow_cpu=True)
        print(other.poll())
        other.kill()
        other.wait()
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "None\n", done.stderr


def test_first_child_is_ended_if_a_signal_interrupts_its_start():
    """The signal's exception leaves Popen before gpucheck records the child."""
    program = textwrap.dedent("""
        import os, subprocess
        from gpucheck.core.host import orphans
        orphans.adopt()
        child = subprocess.Popen(["sleep", "50"], env={**os.environ, **orphans.mark()})
        orphans.end()
        print(child.wait(5))
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "0", done.stderr  # 0: ``end`` has waited for it
