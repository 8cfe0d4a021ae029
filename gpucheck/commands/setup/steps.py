"""Run a step of an installation: a program, with its output as progress, and the reason if it fails."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from gpucheck.core.host.process import Process
from gpucheck.core.system.ownership import why_not_as_root

LOG_BYTES = 4 << 20
# The current folder of all steps. uv reads settings (indexes, packages) from uv.toml and pyproject.toml in the current folder
# and its parents, and `python -m` and `python -c` import modules from it, even if another user wrote them. Only root can write
# to the root folder. So a project's own settings are ignored too: the new environment is not part of that project. The user's
# settings (~/.config/uv, pip.conf) and variables (UV_*, PIP_*) are used.
ROOT_FOLDER = os.path.abspath(os.sep)
_SHOWN = re.compile(r"\s*(?:Collecting|Downloading|Downloaded|Installing|Using|Resolved|Prepared|Creating)\b.*")
_CAUSES = (
    (r"No space left on device|Errno 28|os error 28", "the disk is full"),
    (r"Disk quota exceeded|Errno 122", "the disk quota is exceeded"),
    (
        r"name resolution|Name or service not known|Could not resolve|dns error|NewConnectionError|Failed to establish|"
        r"Connection refused|Network is unreachable|error sending request|Max retries exceeded|client error \(Connect\)",
        "the package index{index} cannot be reached",
    ),
    (r"\(from versions: none\)", "the package index{index} cannot be reached, or has no such package for this Python"),
    (r"No matching distribution|No solution found|Could not find a version", "the package index{index} has no matching packages"),
    (r"ensurepip is not available|No module named venv", "this Python cannot create environments: its venv package is missing"),
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


class Failed(Exception):
    """The installation failed and was removed; the message is the reason."""

    unreachable = False  # whether a package index may be unreachable


class Screen(NamedTuple):
    """Functions for output."""

    say: Callable[[str], None]  # prints a line
    progress: Callable[[str], None] | None  # replaces the progress line; None without a terminal
    uninterruptible: Callable[[], contextlib.AbstractContextManager[None]]  # ignores signals inside


def run(argv: list[str], env: Mapping[str, str], screen: Screen, deadline: float, index: str | None = None) -> None:
    """Run one step, and show its output as progress.

    Args:
        argv: the program's absolute path, and arguments.
        env: the user's environment.
        screen: for progress output.
        deadline: ``time.monotonic()`` by which it must end.
        index: the package index that the step uses; None: pip's default.

    Raises:
        Failed: the step failed.
    """
    with running(argv, _environment(env)) as process:
        output = _Output(process, screen)
        process.late = not process.wait(deadline, output.more)
        if process.late or process.returncode != 0:
            raise _failure(process, argv, index)
        output.more()


@contextlib.contextmanager
def running(argv: list[str], env: Mapping[str, str]) -> Iterator[Process]:
    """Start a program in the root folder, and kill its remaining processes at the end of the block.

    Args:
        argv: the program's absolute path, and arguments.
        env: its whole environment.

    Raises:
        Failed: it can't be started.
    """
    refused = why_not_as_root(argv[0])
    if refused is not None:
        raise Failed(f"{argv[0]} was not started: {refused}")
    try:
        process = Process(argv, env, log_bytes=LOG_BYTES, folder=ROOT_FOLDER)
    except OSError as error:
        raise Failed(f"{argv[0]} cannot be started: {error.strerror or error}") from None
    try:
        yield process
    finally:
        process.kill()
        process.close()


class _Output:
    """The output of a running step."""

    def __init__(self, process: Process, screen: Screen) -> None:
        self._process, self._screen = process, screen
        self._read = [0, 0]
        self._rest = ["", ""]

    def more(self) -> bool:
        """Show new lines; return False, because the caller only waits for the end."""
        for number, stream in enumerate((self._process.out, self._process.err)):
            data = stream.read(self._read[number])
            self._read[number] += len(data)
            *lines, self._rest[number] = (self._rest[number] + data.decode("utf-8", "replace")).split("\n")
            show = self._screen.progress or self._screen.say
            for line in filter(_SHOWN.fullmatch, lines):
                show(f"      {' '.join(line.split())}")
        return False


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without variables that redirect pip away from the new environment."""
    kept = {name: value for name, value in env.items() if name not in _NOT_OURS}
    return {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "NO_COLOR": "1"}


def _failure(process: Process, argv: list[str], index: str | None) -> Failed:
    """Return why a step failed: the cause, if its output shows it, and its last lines."""
    out, err = process.out.text(LOG_BYTES), process.err.text(LOG_BYTES)
    text = err + out
    cause = "it took longer than --timeout allows" if process.late else None
    cause = cause or next((words for pattern, words in _CAUSES if re.search(pattern, text)), "a step failed")
    lines = [line.strip() for line in (err if err.strip() else out).splitlines() if line.strip()][-3:]
    words = [f"{os.path.basename(argv[0])} {process.how()}", *([] if process.late else lines)]
    named = cause.format(index=f" {index}" if index else "")
    failure = Failed("\n  ".join([f"{named}; the new environment was removed", *words]))
    failure.unreachable = "be reached" in cause
    return failure
