"""``gpucheck lint --watch`` as a process whose files are edited."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys

import pytest
from command import gpucheck

BAD = "import tensorflow as tf\ntf.Session()\n"
WAITING = b"gpucheck: waiting for a file to change; press Ctrl-C to stop\r\n"
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminal")


@contextlib.contextmanager
def watching(*args, **options):
    argv = [sys.executable, "-m", "gpucheck", "lint", "--watch", *args, "."]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def until(terminal, text):
    """Read the terminal up to a text."""
    shown = b""
    while text not in shown:
        assert select.select([terminal], [], [], 60)[0], shown.decode()
        shown += os.read(terminal, 1 << 16)
    return shown.decode()


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_each_change_is_linted_until_a_signal(tmp_path, number):
    path = tmp_path / "train.py"
    path.write_text(BAD)
    ours, theirs = pty.openpty()
    with watching("--timeout", "20", stdout=theirs, stderr=theirs, cwd=tmp_path) as process:
        os.close(theirs)
        shown = until(ours, WAITING)
        assert shown.startswith("\x1b[2J\x1b[3J\x1b[H")
        assert "train.py:2:1" in shown
        assert "1 finding in 1 of 1 file" in shown
        path.write_text("import tensorflow as tf\n")
        assert "no findings in 1 file" in until(ours, WAITING)
        (tmp_path / "other.py").write_text(BAD)
        assert "1 finding in 1 of 2 files" in until(ours, WAITING)
        path.unlink()
        assert "1 finding in 1 of 1 file" in until(ours, WAITING)
        process.send_signal(number)
        assert process.wait(30) == 128 + number
    os.close(ours)


@posix
def test_fix_with_watch_and_no_escape_codes_on_a_pipe(tmp_path):
    (tmp_path / "train.py").write_text("print(tf.config.list_physical_devices())\n")
    with watching("--fix", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=tmp_path, text=True) as process:
        assert process.stdout.readline() == "no findings in 1 file, 1 fixed\n"
        assert process.stdout.readline() == "gpucheck: waiting for a file to change; press Ctrl-C to stop\n"
        assert not select.select([process.stdout], [], [], 1.5)[0]  # its own correction does not start another run
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stdout.read() == "gpucheck: interrupted\n"


@pytest.mark.parametrize("args", [["-"], [".", "--format", "json"]])
def test_unwatchable_arguments(args):
    done = gpucheck("lint", "--watch", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--watch needs files or folders, and --format terminal" in done.stderr
