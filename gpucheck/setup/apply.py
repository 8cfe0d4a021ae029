"""The environment of a choice: made in a new folder, then proven by gpucheck, which trains in it.

The folder is new, or nothing is done. Whatever ends the work before the proof, an error, a limit or a signal, removes it again.
"""

import contextlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import NamedTuple

from gpucheck.advice.shells import applied
from gpucheck.compat import versions
from gpucheck.files.bounded import NoAnswer, within
from gpucheck.host import Host
from gpucheck.host.process import Process
from gpucheck.model import Assignment, Verdict
from gpucheck.repair.install import install
from gpucheck.setup import commands
from gpucheck.setup.answer import Answer, Choice
from gpucheck.setup.solve import is_fetched

LOG_BYTES = 4 << 20
PROOF_SECONDS = 300.0
REMOVE_SECONDS = 45.0
LEAST_PROOF_SECONDS = 20.0
GIB = 1 << 30
ROOM_BYTES = {True: 3 * GIB, False: 9 * GIB}  # of an environment for the CPU, and of one with CUDA's libraries
_SHOWN = re.compile(r"\s*(?:Collecting|Downloading|Downloaded|Installing|Using|Resolved|Prepared|Creating)\b.*")
_CAUSES = (
    (r"No space left on device|Errno 28|os error 28", "the disk is full"),
    (r"Disk quota exceeded|Errno 122", "the disk quota is used up"),
    (
        r"name resolution|Name or service not known|Could not resolve|dns error|NewConnectionError|Failed to establish|"
        r"Connection refused|Network is unreachable|error sending request|Max retries exceeded|client error \(Connect\)",
        "the package index cannot be reached",
    ),
    (r"No matching distribution|No solution found|Could not find a version", "the package index has no packages that fit"),
    (r"ensurepip is not available|No module named venv", "this Python cannot make environments: its venv package is missing"),
    (r"Read-only file system|Permission denied", "the folder cannot be written to"),
)
_NOT_OURS = (
    "PYTHONHOME",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PIP_TARGET",
    "PIP_PREFIX",
    "PIP_USER",
    "PIP_REQUIRE_VIRTUALENV",
)


class Refused(Exception):
    """It was not begun; the message says why, in one line."""


class Failed(Exception):
    """It was begun, did not go well, and was removed again; the message says why."""


class Screen(NamedTuple):
    """Where the work is shown."""

    say: Callable[[str], None]  # a line that stays
    progress: Callable[[str], None] | None  # a line that is replaced; None: there is no terminal
    held_off: Callable[[], AbstractContextManager[None]]  # inside, signals wait


class Proof(NamedTuple):
    """What gpucheck said of the environment."""

    good: bool
    text: str


def apply(answer: Answer, folder: str, host: Host, screen: Screen, deadline: float) -> Proof:
    """Make the best choice's environment and prove it.

    Args:
        answer: it has a choice.
        folder: where; it must not exist, and its parent must.
        host: this machine.
        screen: where the work is shown.
        deadline: ``time.monotonic()`` by which everything is done.

    Raises:
        Refused: nothing was begun.
        Failed: it did not go well, and nothing is left of it.
    """
    choice = answer.choices[0]
    path = os.path.abspath(os.path.expanduser(folder))
    steps = _steps(answer, choice, path, host)
    _make_folder(path, choice, host)
    try:
        for number, (title, argv) in enumerate(steps, 1):
            screen.say(f"[{number}/{len(steps) + 1}] {title}")
            _run(argv, host, screen, deadline)
        assignments = tuple(_in_folder(assignment, path) for assignment in choice.assignments)
        if assignments:
            install(assignments, path, "venv")
        screen.say(f"[{len(steps) + 1}/{len(steps) + 1}] Checking it: gpucheck trains in it")
        return _prove(choice, path, assignments, answer, host, screen, deadline)
    except BaseException:
        _remove(path, screen)
        raise


def _steps(answer: Answer, choice: Choice, path: str, host: Host) -> list[tuple[str, list[str]]]:
    """What is run, each with its title."""
    if choice.source == "image":
        raise Refused(f"only NVIDIA's image fits this machine, no environment does: {commands.make(choice, answer.machine)[0]}")
    minor = versions.minor(choice.python.version)
    fetched = is_fetched(choice.python, answer.machine)
    uv = host.which("uv")
    if fetched and uv is None:
        raise Refused(
            f"Python {minor} is not on this machine, and neither is uv, which would fetch it: https://docs.astral.sh/uv"
        )
    if choice.python.has_venv is False and uv is None:
        raise Refused(f"Python {minor} cannot make environments here: install its package python{minor}-venv first, or uv")
    python = choice.python.executable or minor
    inside = commands.environment_python(path, answer.machine.system)
    make = [uv, "venv", "--python", python, path] if uv else [python, "-I", "-m", "venv", path]
    steps = [(f"Making an environment with Python {choice.python.version} in {path}", make)]
    for packages, index in commands.installs(choice):
        pip = (
            [uv, "pip", "install", "--python", inside]
            if uv
            else [inside, "-I", "-m", "pip", "install", "--no-input", "--progress-bar=off"]
        )
        steps.append((f"Installing {', '.join(packages)}", [*pip, *packages, *(["--index-url", index] if index else [])]))
    return steps


def _make_folder(path: str, choice: Choice, host: Host) -> None:
    """Make the new folder, which is ours from then on."""
    parent = os.path.dirname(path)
    try:
        room = within(5.0, host.disk, parent)
        needed = ROOM_BYTES[commands.trains_on_cpu(choice)]
        if room is not None and room.free_bytes < needed:
            free = f"{room.free_bytes / GIB:.1f} GiB are free in {parent}"
            raise Refused(f"{free}, and the environment needs about {needed / GIB:.0f} GiB")
        within(5.0, os.mkdir, path)
    except NoAnswer as error:
        raise Refused(f"{parent} does not answer: {error.strerror}") from None
    except FileExistsError:
        raise Refused(f"{path} exists; an environment is only made in a new folder") from None
    except (OSError, ValueError) as error:
        raise Refused(f"cannot make {path}: {getattr(error, 'strerror', None) or error}") from None


def _run(argv: list[str], host: Host, screen: Screen, deadline: float) -> None:
    """Run one step, and show what it says.

    Raises:
        Failed: it did not go well.
    """
    process = _start(argv, _environment(host.env))
    try:
        said = _Said(process, screen)
        process.late = not process.wait(deadline, said.more)
        if process.late or process.returncode != 0:
            raise Failed(_why(process, argv))
        said.more()
    finally:
        process.kill()
        process.close()


def _start(argv: list[str], env: Mapping[str, str]) -> Process:
    try:
        return Process(argv, env, log_bytes=LOG_BYTES)
    except OSError as error:
        raise Failed(f"{argv[0]} cannot be started: {error.strerror or error}") from None


class _Said:
    """What a step says while it runs."""

    def __init__(self, process: Process, screen: Screen) -> None:
        self._process, self._screen = process, screen
        self._read = [0, 0]
        self._rest = ["", ""]

    def more(self) -> bool:
        """Show the lines that came; False, as nothing is waited for but the end."""
        for number, stream in enumerate((self._process.out, self._process.err)):
            data = stream.read(self._read[number])
            self._read[number] += len(data)
            *lines, self._rest[number] = (self._rest[number] + data.decode("utf-8", "replace")).split("\n")
            for line in filter(_SHOWN.fullmatch, lines):
                self._show(" ".join(line.split()))
        return False

    def _show(self, line: str) -> None:
        if self._screen.progress is not None:
            self._screen.progress(f"      {line}")
        else:
            self._screen.say(f"      {line}")


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """Without what would lead pip elsewhere than into the new environment."""
    return {name: value for name, value in env.items() if name not in _NOT_OURS} | {
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "NO_COLOR": "1",
    }


def _why(process: Process, argv: list[str]) -> str:
    """What went wrong in a step: its cause, if its words tell it, and its last lines. Nothing is left of it."""
    out, err = process.out.text(LOG_BYTES), process.err.text(LOG_BYTES)
    text = err + out
    cause = "it took longer than --timeout allows" if process.late else None
    cause = cause or next((words for pattern, words in _CAUSES if re.search(pattern, text)), None)
    lines = [line.strip() for line in (err if err.strip() else out).splitlines() if line.strip()][-3:]
    words = [f"{os.path.basename(argv[0])} {process.how()}", *([] if process.late else lines)]
    return "\n  ".join([f"{cause or 'a step failed'}; nothing is left of the new environment", *words])


def _in_folder(assignment: Assignment, path: str) -> Assignment:
    value = assignment.value.replace("{environment}", path)
    return Assignment(variable=assignment.variable, operation=assignment.operation, value=value, reason=assignment.reason)


def _prove(
    choice: Choice, path: str, assignments: tuple[Assignment, ...], answer: Answer, host: Host, screen: Screen, deadline: float
) -> Proof:
    """Run gpucheck on the environment, training included."""
    left = deadline - time.monotonic()
    if left < LEAST_PROOF_SECONDS:
        raise Failed("no time was left to prove the environment (--timeout); nothing is left of it")
    seconds = min(PROOF_SECONDS, left - 5.0)
    inside = commands.environment_python(path, answer.machine.system)
    argv = [sys.executable, "-m", "gpucheck", "--python", inside, "--format", "json", "--timeout", f"{seconds:.0f}"]
    argv += [] if choice.backend == "tensorflow" else ["--backend", choice.backend]
    env = dict(applied(assignments, host.env))
    if commands.trains_on_cpu(choice):
        argv.append("--allow-cpu")
        env["CUDA_VISIBLE_DEVICES"] = "-1"  # a GPU that the user does without is not missed
    process = _start(argv, env)
    try:
        process.late = not process.wait(deadline, _ticking(screen))
        text = process.out.text(LOG_BYTES)
    finally:
        process.kill()
        process.close()
    return _proof(text, process, path)


def _ticking(screen: Screen) -> Callable[[], bool]:
    started = time.monotonic()

    def tick() -> bool:
        if screen.progress is not None:
            screen.progress(f"      {time.monotonic() - started:.0f} s")
        return False

    return tick


def _proof(text: str, process: Process, path: str) -> Proof:
    """The verdict of the report."""
    report: dict[str, object] = {}
    with contextlib.suppress(ValueError):
        report = json.loads(text)
    good = process.returncode == 0 and report.get("verdict") in (Verdict.PASS.value, Verdict.WARN.value)
    return Proof(good, "; ".join(_lines(report, good)) or f"gpucheck {process.how()} without a report")


def _lines(report: dict[str, object], good: bool) -> Iterator[str]:
    """What was trained, or what is wrong."""
    training, findings = report.get("training"), report.get("findings")
    for run in training if good and isinstance(training, list) else ():
        if run.get("status") == "passed":
            yield f"{run.get('strategy')} trained on {', '.join(run.get('devices') or ())}"
    for finding in findings if not good and isinstance(findings, list) else ():
        if finding.get("explained_by") is None:
            yield f"{finding.get('code')}: {finding.get('summary')}"
    unknown = report.get("unknown_because")
    if not good and isinstance(unknown, list):
        yield from map(str, unknown)


def _remove(path: str, screen: Screen) -> None:
    """Remove what was begun; a signal must not cut that short."""
    with screen.held_off():
        with contextlib.suppress(NoAnswer):
            within(REMOVE_SECONDS, shutil.rmtree, path, True)
        if os.path.lexists(path):
            screen.say(f"gpucheck: {path} could not be removed")
