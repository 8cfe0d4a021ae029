"""Screens of a real terminal (tmux) of 24 lines match the recorded files, and a single cause fits without scrolling.

`make goldens` rewrites the files. A line of "┈" marks the start of the visible screen; lines above it were scrolled away.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from golden import outputs
from golden.test_golden import difference
from screens.show import SCREENS

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE / "golden"
WIDTHS = (60, 80, 120)
LINES = 24


def tmux(folder, *args):
    """Run a command on a separate tmux server; return its output."""
    env = {**os.environ}  # not the C environment, where readline has set COLUMNS if pytest imported it
    argv = ["tmux", "-f/dev/null", "-S", folder / "tmux", *args]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def normal(text):
    """The text without values that differ between runs."""
    return re.sub(r"(?<= · )[\d.]+ s$", "N s", text, flags=re.MULTILINE)


def screens(folder, width):
    """Every screen at a width, scrolled-away lines included."""
    (folder / "run.sh").write_text(
        'mkdir -p "$1" && cd "$1" && python=$2 show=$3\n'
        '"$python" -B "$show" "${1##*/}" 2>&1; tmux wait-for -S "${1##*/}"; exec cat\n'
    )
    texts = {}
    for name in SCREENS:
        run = ["sh", folder / "run.sh", folder / name, sys.executable, HERE / "show.py"]
        tmux(folder, "new-session", "-d", "-s", name, "-x", str(width), "-y", str(LINES), *map(str, run))
        tmux(folder, "wait-for", name)
        size = int(tmux(folder, "display-message", "-p", "-t", name, "#{history_size}"))
        lines = tmux(folder, "capture-pane", "-p", "-S", "-", "-t", name).rstrip().split("\n")
        texts[name] = normal("\n".join([*lines[:size], *["┈" * width] * (size > 0), *lines[size:]]) + "\n")
    tmux(folder, "kill-server")
    return texts


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux")
@pytest.mark.parametrize("width", WIDTHS)
def test_screens_match_recorded_files(width, tmp_path, request, monkeypatch):
    for variable in ("COLUMNS", "LINES", "NO_COLOR", "TMUX"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    printed = {f"{name}.{width}.txt": text for name, text in screens(tmp_path, width).items()}
    if request.config.getoption("--update-goldens"):
        for path in GOLDEN.glob(f"*.{width}.txt"):
            path.unlink()
        for name, text in printed.items():
            (GOLDEN / name).write_text(text, encoding="utf-8")
    recorded = {path.name: path.read_text(encoding="utf-8") for path in GOLDEN.glob(f"*.{width}.txt")}
    assert difference(recorded, printed) == ""


@pytest.mark.parametrize("width", [80, 120])
def test_single_cause_fits_without_scrolling(width, monkeypatch):
    """For every rule's example, from the cause to the last line. A run adds the command that checks the cure, and the shell its prompt."""
    monkeypatch.setitem(outputs.ENVIRONMENT, "COLUMNS", str(width))
    too_long = {}
    for code in sorted(outputs.RULES):
        text = outputs.printed("--replay", "-", given=outputs.recorded(code)).partition("exit code")[0]
        causes = re.split(r"^(?=[✗!] )", text, flags=re.MULTILINE)[1:]
        lines = sum(-(-len(line) // width) or 1 for line in "".join(causes).splitlines())
        if len(causes) == 1 and lines > LINES - 2:
            too_long[code] = lines
    assert too_long == {}
