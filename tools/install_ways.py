"""Measure every installation method: python tools/install_ways.py, after `make dist`. Needs the network, and pipx and uv on PATH.

Each method starts from empty folders and caches, while an empty environment is active. It must check that environment and reach a
verdict. Rewrites the table of docs/install.md.
"""

import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "install.md"
HEAD = "| method | command, in the checkout | checks | install time | first run | later runs | disk space |\n| --- |"
TAIL = "Measured by `tools/install_ways.py`"
ASKED = ("--quick", "--allow-cpu")


class Way(NamedTuple):
    """The commands that install and run gpucheck, and the folder whose size is measured."""

    name: str
    typed: str
    examines: str
    install: tuple[str, ...]
    run: tuple[str, ...]
    folder: str
    where: str = ""


def ways(wheel: pathlib.Path, scratch: pathlib.Path) -> list[Way]:
    """Return all methods. The first checks the environment in which it is installed, the others check the active one."""
    own, active = scratch / "own/bin", "the active environment"
    own_uv = (
        f"env UV_CACHE_DIR={scratch}/uvx UV_TOOL_DIR={scratch}/none".split()
    )  # otherwise uvx uses a tool that uv has installed
    uvx = (*own_uv, "uvx", "--from", f"{wheel}", "gpucheck")
    pyz = ROOT / "dist" / "gpucheck.pyz"
    unpacked = f" unpacked; the file is {pyz.stat().st_size / 1e6:.1f} MB"
    pip = (f"{own}/python", "-m", "pip", "install", "--quiet", f"{wheel}")
    pipx, tool = ("pipx", "install", f"{wheel}"), ("uv", "tool", "install", f"{wheel}")
    started = (sys.executable, "-S", f"{pyz}")
    uv = "[uv](https://docs.astral.sh/uv/), installed"
    return [
        Way("into your environment", "python -m pip install .", "that environment", pip, (f"{own}/gpucheck",), "own"),
        Way("[pipx](https://pipx.pypa.io)", "pipx install .", active, pipx, (f"{scratch}/pipx/bin/gpucheck",), "pipx/venvs"),
        Way(uv, "uv tool install .", active, tool, (f"{scratch}/uv/bin/gpucheck",), "uv/tools"),
        Way("uv, without installation", "uvx --from . gpucheck", active, (), uvx, "uvx", ", in uv's cache"),
        Way("one file", "python3 dist/gpucheck.pyz", f"{active}, else that Python", (), started, "shiv", unpacked),
    ]


def megabytes(folder: pathlib.Path) -> float:
    """Return the size of the folder's files in MB; hard links are counted once."""
    files = {(held.st_dev, held.st_ino): held.st_size for held in (path.lstat() for path in folder.rglob("*") if path.is_file())}
    return sum(files.values()) / 1e6


def seconds(argv: tuple[str, ...], env: dict[str, str], expected: str = "") -> float:
    """Return the seconds a command takes; raise SystemExit if it does not print the expected text."""
    started = time.monotonic()
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    spent = time.monotonic() - started
    if expected not in done.stdout + done.stderr or (not expected and done.returncode):
        raise SystemExit(f"{' '.join(argv)}: no {expected!r} in\n{done.stdout}{done.stderr}")
    return spent


def measured(way: Way, scratch: pathlib.Path, env: dict[str, str]) -> str:
    """Measure one method; return its row of the table."""
    before = megabytes(scratch / way.folder)
    installs = f"{seconds(way.install, env):.1f} s" if way.install else "–"
    examined = "own" if way.folder == "own" else "active"
    words = "causes ruled out" if examined == "own" else f"examining {scratch}/active/bin/python"
    answers = [seconds((*way.run, *ASKED), env, words) for _ in range(2)]
    size = megabytes(scratch / way.folder) - before
    times = " | ".join(f"{answer:.1f} s" for answer in answers)
    return f"| {way.name} | `{way.typed}` | {way.examines} | {installs} | {times} | {size:.0f} MB{way.where} |\n"


def main() -> None:
    """Measure every method and write the table."""
    (wheel,) = (ROOT / "dist").glob("*.whl")
    with tempfile.TemporaryDirectory(prefix="gpucheck-ways-") as folder:
        scratch = pathlib.Path(folder)
        for name in ("own", "active"):
            subprocess.run([sys.executable, "-m", "venv", scratch / name], check=True)
        env = {key: value for key, value in os.environ.items() if not key.startswith(("GPUCHECK_", "PYTHON", "CONDA_"))}
        env |= {"VIRTUAL_ENV": f"{scratch}/active", "PIP_NO_CACHE_DIR": "1", "SHIV_ROOT": f"{scratch}/shiv"}
        env |= {"PIPX_HOME": f"{scratch}/pipx", "PIPX_BIN_DIR": f"{scratch}/pipx/bin", "UV_TOOL_DIR": f"{scratch}/uv/tools"}
        env |= {"UV_TOOL_BIN_DIR": f"{scratch}/uv/bin", "UV_CACHE_DIR": f"{scratch}/uv/cache"}
        rows = [measured(way, scratch, env) for way in ways(wheel, scratch)]
    under = f"under Python {platform.python_version()} on {os.cpu_count()} cores"
    note = (
        f"{TAIL}, one method after another, from empty caches, with the built wheel and `gpucheck {' '.join(ASKED)}`, {under}.\n"
    )
    table = HEAD + " --- |" * 6 + "\n" + "".join(rows) + "\n" + note
    text = re.sub(re.escape(HEAD) + r".*?\n\n[^\n]*\n", lambda _: table, PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    PAGE.write_text(text, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
