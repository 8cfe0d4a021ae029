"""Run gpucheck under a fault, and check that it is complete, on time and truthful, and leaves nothing behind."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import time

from leftovers import VARIABLE, leftovers_after

LIMIT_SECONDS = 6.0
LATE_SECONDS = 1.5  # after the limit, by which every command has ended
BUSY_SECONDS = 4.0  # for a machine that is busy with other tests
CODES = (0, 1, 2, 3)
NOT_FOUND = (126, 127)  # of a command that `run` can't start


class Unavailable(Exception):
    """A fault can't be created here; the message gives the reason."""


class Cell:
    """A run that is being prepared."""

    def __init__(self, folder: pathlib.Path, stack: contextlib.ExitStack) -> None:
        self.folder, self.stack, self.limit = folder, stack, LIMIT_SECONDS
        for name in ("tmp", "home", "work"):
            (folder / name).mkdir(parents=True)
        self.cwd = folder / "work"
        self.program = [sys.executable, "-m", "gpucheck"]
        self.args: list[str] = []
        self.shell = ""  # lines before the command; if there are any, in a separate mount namespace
        self.redirected = ""  # after the command
        self.wrong_if_healthy = False
        self.reports = True  # standard output is the report
        self.left_alone = False  # its folders can't be checked afterwards
        self.env = {name: os.environ[name] for name in ("LANG",) if name in os.environ}
        checkout = pathlib.Path(__file__).parents[2]
        self.env.update(
            PATH=f"{pathlib.Path(sys.executable).parent}:/usr/bin:/bin:/usr/sbin:/sbin",
            HOME=str(folder / "home"),
            TMPDIR=str(folder / "tmp"),
            PYTHONPATH=str(checkout),
            PYTHONDONTWRITEBYTECODE="1",
        )
        self.env[VARIABLE] = str(folder)

    def run(self) -> tuple[float, list[str]]:
        """Run it; return the seconds it took, and the problems of its result."""
        command = [*self.program, *self.args]
        if self.shell or self.redirected:
            command = ["/bin/sh", "-c", f'{self.shell}exec "$@"{self.redirected}', "sh", *command]
        if "mount" in self.shell:
            root_only()
            command = ["/usr/bin/unshare", "--mount", *command]
        began = time.monotonic()
        process = subprocess.Popen(
            command, env=self.env, cwd=self.cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            out, err = process.communicate(timeout=self.limit + 30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return time.monotonic() - began, ["never ended"]
        seconds = time.monotonic() - began
        return seconds, [*self._judged(process.returncode, out, err.decode("utf-8", "replace"), seconds), *self._left()]

    def _judged(self, code: int, out: bytes, err: str, seconds: float) -> list[str]:
        problems = []
        if seconds > self.limit + LATE_SECONDS + BUSY_SECONDS:
            problems.append(f"late: {seconds:.1f} s")
        if "Traceback" in err:
            problems.append(f"traceback: {err[-600:]}")
        if code not in CODES and not (code in NOT_FOUND and self.args[0] == "run"):
            problems.append(f"exit code {code}: {err[-300:]}")
        if not self.reports:
            return problems
        try:
            report = json.loads(out)
        except ValueError:
            return problems if code >= 2 and err.strip() else [*problems, f"neither a report nor a reason, exit code {code}"]
        if report["exit_code"] != code or not report["probes"] or not report["outcomes"]:
            problems.append("an incomplete report")
        if self.wrong_if_healthy and report["exit_code"] == 0:
            problems.append("says that all is well")
        crashed = [outcome["code"] for outcome in report["outcomes"] if outcome["status"] == "crashed"]
        return [*problems, *(f"crashed: {code}" for code in crashed)]

    def _left(self) -> list[str]:
        running = leftovers_after(str(self.folder), 2.0)
        problems = [f"left running: {running}"] if running else []
        if not self.left_alone:
            left = [path.name for name in ("tmp", "work") for path in (self.folder / name).iterdir() if "gpucheck" in path.name]
            left += [path.name for path in self.folder.rglob("*.part")]
            problems += [f"left behind: {left}"] if left else []
        return problems


def root_only() -> None:
    """Raise Unavailable for users other than root."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        raise Unavailable("needs root")
