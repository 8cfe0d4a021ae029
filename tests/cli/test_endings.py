"""The end of the command under signals, closed streams, full disks, and without docstrings."""

import fcntl
import os
import pathlib
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest
from case_files import program, table
from leftovers import VARIABLE, leftovers, leftovers_after

ROOT = str(pathlib.Path(__file__).parents[2])
GPUCHECK = [sys.executable, "-m", "gpucheck"]
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and shells of POSIX")
needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
INTERRUPTED = {signal.SIGINT: 130, signal.SIGTERM: 143, **({signal.SIGHUP: 129} if hasattr(signal, "SIGHUP") else {})}
MESSAGES = {number: "gpucheck: interrupted\n" if number == signal.SIGINT else "" for number in INTERRUPTED}


def shell(redirection, *args, **options):
    """Run gpucheck with a shell redirection."""
    line = f'exec "$@" {redirection}'
    env = {**os.environ, "PYTHONPATH": ROOT, **options.pop("env", {})}
    given = {"capture_output": True, "text": True, "timeout": 60, "env": env, **options}
    return subprocess.run(["sh", "-c", line, "sh", *GPUCHECK, *args], **given)


def hanging(folder):
    """Return an environment whose TensorFlow hangs."""
    (folder / "lib/tensorflow").mkdir(parents=True)
    (folder / "lib/tensorflow/__init__.py").write_text("import time; time.sleep(600)")
    return {**os.environ, "PYTHONPATH": f"{folder / 'lib'}:{ROOT}", "PYTHONFAULTHANDLER": "1", VARIABLE: str(folder)}


def output(process, seconds):
    """Return the output of a process that ends; if it does not, fail with the stack of each of its threads."""
    try:
        return process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        pytest.fail(f"did not end within {seconds} s:\n{process.communicate(timeout=seconds)[1]}")


@posix
@pytest.mark.parametrize("number", INTERRUPTED, ids=lambda number: number.name)
def test_signal_during_the_run_removes_children_and_files(tmp_path, number):
    work = tmp_path / "work"
    work.mkdir()
    args = ["--allow-cpu", "--report", "json=a.json", "--output", "b.txt"]
    process = subprocess.Popen([*GPUCHECK, *args], cwd=work, env=hanging(tmp_path), stdout=-1, stderr=-1, text=True)
    deadline = time.monotonic() + 20
    while len(leftovers(str(tmp_path))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    process.send_signal(number)  # a second signal does not interrupt the cleanup
    out, err = output(process, 20)
    assert (process.returncode, out, err) == (INTERRUPTED[number], "", MESSAGES[number])
    assert os.listdir(work) == []
    assert leftovers_after(str(tmp_path), 5) == []


# A signal may arrive during every import; these represent the first tenths of a second.
MOMENTS = ["click", "gpucheck.cli.formats", "gpucheck.core.host.local", "gpucheck.core.engine.pipeline"]
INTERRUPT_AT = program("endings_interrupt_at.py")


@posix
@pytest.mark.parametrize("number", INTERRUPTED, ids=lambda number: number.name)
@pytest.mark.parametrize("moment", MOMENTS)
def test_signal_during_startup(tmp_path, moment, number):
    command = [sys.executable, "-c", INTERRUPT_AT, moment, str(int(number)), "--quick", "--output", "report.txt"]
    env = {**os.environ, "PYTHONPATH": ROOT}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED[number], "", MESSAGES[number])
    assert os.listdir(tmp_path) == []


# Python ignores exceptions in callbacks of weak references, which the import machinery runs at every import.
INTERRUPT_CALLBACK = program("endings_interrupt_callback.py")


@posix
@pytest.mark.parametrize("number", INTERRUPTED, ids=lambda number: number.name)
def test_signal_is_not_lost_where_python_cannot_raise(number):
    command = [sys.executable, "-c", INTERRUPT_CALLBACK, str(int(number))]
    began = time.monotonic()
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": ROOT}, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (INTERRUPTED[number], "", MESSAGES[number])
    assert time.monotonic() - began < 10


def drained(pipe):
    """Wait until the reader has emptied a pipe."""
    deadline = time.monotonic() + 60
    while struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@posix
@pytest.mark.parametrize("args", [["explain", "-"], ["lint", "-"], ["compare", "-"]], ids=lambda args: args[0])
def test_ctrl_c_while_standard_input_is_read(args):
    process = subprocess.Popen([*GPUCHECK, *args], stdin=subprocess.PIPE, stdout=-1, stderr=-1, text=True)
    process.stdin.write("a line\n")
    process.stdin.flush()
    drained(process.stdin)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    out, err = process.communicate(timeout=20)
    assert (out, err) == ("", "gpucheck: interrupted\n")


@posix
def test_ignored_hangup_stays_ignored(tmp_path):
    """The signal is ignored under nohup(1)."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = subprocess.Popen(
            [*GPUCHECK, "--allow-cpu", "--timeout", "3"], env=hanging(tmp_path), stdout=-1, stderr=-1, text=True
        )
    finally:
        signal.signal(signal.SIGHUP, before)
    time.sleep(1.0)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=20)
    assert process.returncode == 3


@pytest.mark.tensorflow
@posix
@table
def test_exit_code_without_standard_output(tmp_path, args, code):
    done = shell(">&-", *args, cwd=tmp_path)
    assert done.returncode == code
    assert done.stderr == "gpucheck: standard output was closed before everything was written\n"
    assert not tmp_path.joinpath("c.json").exists() or tmp_path.joinpath("c.json").read_text().startswith("{")


@posix
def test_exit_code_without_any_stream():
    assert shell("<&- >&- 2>&-", "--quick").returncode == 1
    assert shell("<&- >&- 2>&-", "--nosuch").returncode == 2


@posix
@pytest.mark.parametrize("args", [["explain", "-"], ["lint", "-"], ["compare", "-"], ["--replay", "-"]], ids=lambda args: args[0])
def test_closed_standard_input_is_empty(args):
    done = shell("<&-", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert "standard input is closed" in done.stderr
    assert "Traceback" not in done.stderr


@needs_full
@table
def test_full_standard_output_is_one_line_and_no_verdict(tmp_path, args):
    done = shell("> /dev/full", *args, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "gpucheck: cannot write to standard output: No space left on device\n")


@needs_full
@pytest.mark.parametrize(("style", "code"), [("nagios", 3), ("npd", 2), ("docker", 1)])
def test_full_standard_output_follows_the_exit_style(style, code):
    done = shell("> /dev/full", "--quick", "--allow-cpu", "--exit-style", style)
    assert done.returncode == code


@needs_full
@pytest.mark.parametrize(("args", "code"), [([], 1), (["--drain-reason"], 1), (["--gres", "0"], 0)])
def test_full_standard_output_hides_no_fault_of_a_node(args, code):
    done = shell("> /dev/full", "node", "--exit-style", "slurm", *args)
    assert (done.returncode, done.stderr) == (code, "gpucheck: cannot write to standard output: No space left on device\n")


@needs_full
def test_full_standard_error_keeps_the_exit_code():
    assert shell("2> /dev/full", "--nosuch").returncode == 2
    assert shell("2> /dev/full", "run", "--quick", "--", "true").returncode == 1


def test_manual_page_without_docstrings():
    """PYTHONOPTIMIZE=2 leaves docstrings out of the bytecode; the pages are then read from the source."""
    for args in (["explain", "no-nvidia-gpu"], ["explain", "memory-growth-set-late"], ["rules"], ["rules", "--format", "json"]):
        plain, stripped = ([sys.executable, *flags, "-m", "gpucheck", *args] for flags in ((), ("-OO",)))
        wanted = subprocess.run(plain, capture_output=True, text=True, timeout=60)
        done = subprocess.run(stripped, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == wanted.stdout


def test_manual_page_without_docstrings_and_source(tmp_path):
    code = (
        "import sys, importlib.machinery as m; m.SourceFileLoader.get_source = lambda *_: None\n"
        "sys.argv = ['gpucheck', 'explain', 'no-nvidia-gpu']\nfrom gpucheck.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "-OO" in done.stderr
    assert "Traceback" not in done.stderr
