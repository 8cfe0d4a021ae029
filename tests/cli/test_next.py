"""After a pass, the next command is shown on a terminal, but not in a file or pipe."""

import os
import subprocess
import sys

import pytest

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
COMMAND = [sys.executable, "-m", "gpucheck", "--quick", "--allow-cpu", "--color", "never"]


def test_next_command_is_shown_on_a_terminal_only():
    reader, writer = pty.openpty()
    done = subprocess.run(COMMAND, stdout=writer, stderr=subprocess.PIPE, timeout=60, env={**os.environ, "COLUMNS": "200"})
    os.close(writer)
    shown = os.read(reader, 1 << 16).decode()
    os.close(reader)
    if done.returncode:
        pytest.skip(f"this machine has a fault: {shown[-200:]}")
    assert shown.splitlines()[-1] == f"Next: {sys.executable} -m gpucheck --allow-cpu"
    assert "Next: " not in subprocess.run(COMMAND, capture_output=True, text=True, timeout=60).stdout
