"""Real child processes that crash, hang, fork and outlive their parent: the parent's result, and no process is left running."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest
from case_files import program

from gpucheck.core.host.process import Process


def start(code, **options):
    return Process([sys.executable, "-c", code], dict(os.environ), **options)


@pytest.fixture
def process():
    started = []

    def factory(code, **options):
        started.append(start(code, **options))
        return started[-1]

    yield factory
    for one in started:
        one.kill()
        one.close()


def test_output_and_exit_status_are_recorded(process):
    child = process("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert child.wait(time.monotonic() + 10)
    assert (child.returncode, child.how()) == (3, "exited with status 3")
    assert (child.out.text(99), child.err.text(99)) == ("out\n", "err\n")


def test_crash_is_named_by_its_signal(process):
    child = process("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert child.wait(time.monotonic() + 10)
    assert child.how() == "killed by SIGSEGV"


def test_wait_ends_at_the_deadline_and_kill_ends_the_process_group(process):
    child = process(
        "import subprocess, sys, time\n"
        "grandchild = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(grandchild.pid, flush=True); time.sleep(600)"
    )
    assert child.wait(time.monotonic() + 10, lambda: b"\n" in child.out.read(0))
    grandchild = int(child.out.text(99))
    began = time.monotonic()
    assert not child.wait(began + 0.2)
    child.late = True
    child.kill()
    assert child.how() == "timed out"
    gone(child.pid)
    gone(grandchild)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_suspended_child_is_starved(process):
    child = process("import os, signal; print('begin', flush=True); os.kill(os.getpid(), signal.SIGSTOP)")
    os.waitpid(child.pid, os.WUNTRACED)
    assert child.starved()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_child_that_waits_for_input_is_not_starved(process):
    child = process("print('begin', flush=True); input()", report_bytes=1000)
    assert child.wait(time.monotonic() + 10, lambda: psutil.Process(child.pid).status() == "sleeping" and child.out.size > 0)
    assert not child.starved()


def test_kill_ends_leftover_processes_of_a_finished_child(process):
    child = process("import subprocess; print(subprocess.Popen(['sleep', '600']).pid, flush=True)")
    assert child.wait(time.monotonic() + 10)
    leftover = int(child.out.text(99))
    assert psutil.pid_exists(leftover)
    child.kill()
    gone(leftover)


def test_long_output_does_not_block_and_its_beginning_and_end_are_kept(process):
    child = process("print('begin')\nfor i in range(300000): print('x' * 20)\nprint('end')")
    assert child.wait(time.monotonic() + 30)
    assert child.returncode == 0
    written = 6 + 300_000 * 21 + 4
    for limit, kept in ((1 << 20, 1 << 20), (1000, 1000), (1 << 30, 1 << 20)):
        lines = child.out.text(limit).splitlines()
        assert (lines[0], lines[-1]) == ("begin", "end")
        ((place, omission),) = [(number, line) for number, line in enumerate(lines) if "left out" in line]
        assert {*lines[1:place], *lines[place + 1 : -1]} == {"x" * 20}  # no line is truncated
        left_out = int(omission.split()[1])
        assert written - kept <= left_out <= written - kept + 2 * 21


@pytest.mark.parametrize("written", [0, 90, 91, 100, 101, 399, 400, 401])
def test_output_within_the_limit_is_complete(process, written):
    child = process(f"import sys; sys.stdout.write('0123456789' * {written // 10} + 'x' * {written % 10})", log_bytes=400)
    assert child.wait(time.monotonic() + 10)
    text = child.out.text(400)
    whole = "0123456789" * (written // 10) + "x" * (written % 10)
    assert text == whole if written <= 400 else "left out" in text


FLOOD = program("process_flood.py")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_huge_output_neither_fills_memory_nor_blocks_the_child():
    root = str(pathlib.Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", FLOOD, root], capture_output=True, text=True, timeout=300)
    *children, peak = done.stdout.splitlines()
    assert children == ["True 0 256"] * 3, done.stderr
    assert int(peak) < 100, "MiB"


def test_missing_program_raises_without_leaking_descriptors():
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        Process(["/no/such/program"], {})
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("sleep", ["time.sleep", "ctypes.PyDLL(None).sleep"], ids=["waits", "holds Python's lock"])
def test_child_does_not_outlive_its_parent(tmp_path, sleep):
    """The parent is killed, so none of its handlers runs: the child must notice it, or end at its limit."""
    script = tmp_path / "parent.py"
    script.write_text(
        "import os, sys, time\n"
        "from gpucheck.core.host.children import BOOTSTRAP, PACKAGE\n"
        "from gpucheck.core.host.process import Process\n"
        "sys.path.insert(0, '.')\n"
        f"child = Process([sys.executable, '-c', BOOTSTRAP.format(3), {str(tmp_path / 'copy' / 'gpucheck')!r}, 'child.sleeper', '{{}}'], dict(os.environ), report_bytes=1000)\n"
        "child.wait(time.monotonic() + 10, lambda: b'begin' in child.out.read(0))\n"
        "print(child.pid, flush=True); time.sleep(600)\n"
    )
    import gpucheck.core.child.runtime as runtime

    package = tmp_path / "copy" / "gpucheck" / "core" / "child"
    (package / "../system").resolve().mkdir(parents=True)
    real = pathlib.Path(runtime.__file__).parent
    shutil.copytree(real / "messages", package / "messages")
    for name in ("boot.py", "runtime.py", "../system/shadowing.py"):
        (package / name).write_text((real / name).read_text())
    (package / "sleeper.py").write_text(
        "import ctypes, time\nfrom gpucheck.core.child.messages import Done, Task\n"
        "class SleeperTask(Task): child = 'sleeper'\n"
        f"def run(reporter, task):\n    reporter.begin(Done)\n    {sleep}(600)\n"
    )
    parent = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    assert psutil.pid_exists(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    gone(pid)


INIT = program("process_init.py")


@pytest.mark.skipif(sys.platform != "linux", reason="subreapers are Linux's")
def test_init_process_is_left_without_orphans_of_a_child():
    root = str(pathlib.Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", INIT, root], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, "none left\n"), done.stderr


def gone(pid, seconds=5.0):
    """Wait until a process has ended; a zombie has ended too."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return
        except psutil.NoSuchProcess:
            return
        time.sleep(0.02)
    pytest.fail(f"process {pid} is still running")


REUSED = """
import subprocess, sys, time
from gpucheck.core.host.process import Process
ended = Process(["true"], {})
assert ended.wait(time.monotonic() + 10)
with open("/proc/sys/kernel/ns_last_pid", "w") as file:
    file.write(str(ended.pid - 1))
other = subprocess.Popen(["sleep", "600"], start_new_session=True)
assert other.pid == ended.pid
ended.kill()
time.sleep(0.2)
print("alive" if other.poll() is None else "killed")
other.kill()
"""


@pytest.mark.skipif(
    not shutil.which("unshare") or not os.access("/proc/sys/kernel/ns_last_pid", os.W_OK),
    reason="needs root and unshare, for its own process numbers",
)
def test_another_process_with_the_number_of_an_ended_one_is_not_killed():
    argv = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", REUSED]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("alive\n", "")
