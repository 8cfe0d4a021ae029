"""Output to the user: standard output and its properties, the output file, the progress line."""

import contextlib
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO

import click

from gpucheck.cli import time_limit
from gpucheck.core.system.write import OutputFile, write

# Commands in output that GitHub Actions and Azure Pipelines runners execute: "::" after blanks, "##[" and "##vso[" anywhere.
_WORKFLOW_COMMAND = r"(?im)(?:^|(?<=\r))([^\S\r\n]*:)(?=:)|#(?=#(?:vso)?\[)"
_IN_JSON = "(?i)[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|#(?=#(?:vso)?\\[)"
COMMAND = "gpucheck: to fix it: "  # before a command to copy
UNWRITTEN = 3  # ExitCode.UNKNOWN; `--version` does without the model


def display_options(color: str, stream: TextIO | None = None) -> dict[str, Any]:
    """Return ``width`` in columns, ``color`` and ``ascii`` for standard output, or another stream."""
    stream = stream or sys.stdout
    tty = stream is not None and stream.isatty()  # None: it was closed
    colored = color == "always" or (
        color == "auto" and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and tty
    )
    columns = shutil.get_terminal_size((80, 24)).columns if tty or os.environ.get("COLUMNS") else 80
    encoding = ((stream and stream.encoding) or "ascii").lower().replace("-", "")
    return {"width": max(40, min(columns, 120)), "color": colored, "ascii": not encoding.startswith("utf")}


def say(text: str, *, nl: bool = True, color: bool | None = None) -> None:
    """Print a line on standard error, if it is open."""
    if sys.stderr is not None:  # None: it was closed
        with contextlib.suppress(OSError, ValueError):
            click.echo(without_commands(text), err=True, nl=nl, color=color)


def say_wrapped(text: str) -> None:
    """Print lines on standard error, on a terminal wrapped between words. A command to copy, on its own line, is not."""
    if sys.stderr is not None and sys.stderr.isatty():
        from gpucheck.core.reports.shared.terminal_text import TerminalText

        out = TerminalText(**display_options("never", sys.stderr))
        for line in text.split("\n"):
            if line.startswith(COMMAND) or not line:
                out.verbatim(line)
            else:
                out.add(line, hang=4)
        text = str(out).removesuffix("\n")
    say(text)


def without_commands(text: str) -> str:
    """Return a text without commands for a CI runner; JSON also without those for a terminal."""
    if text.startswith(("{", "[")):  # its meaning stays the same
        return text if text.isascii() and "##" not in text else re.sub(_IN_JSON, lambda match: f"\\u{ord(match[0]):04x}", text)
    return re.sub(_WORKFLOW_COMMAND, lambda match: f"{match[0]} ", text) if "::" in text or "##" in text else text


def show(text: str, exit_code: int = 0, unwritable: int = UNWRITTEN, *, commands: bool = False) -> None:
    """Print a text on standard output.

    Args:
        text: what to print.
        exit_code: the command's exit code; used if the reader closed the pipe, which is reported on standard error.
        unwritable: the exit code if standard output can't be written to, as on a full disk.
        commands: whether the text consists of workflow commands.
    """
    time_limit.lock()
    try:
        write(text if commands else without_commands(text))
    except BrokenPipeError:
        say("gpucheck: standard output was closed before everything was written")
        raise SystemExit(exit_code) from None
    except OSError as error:
        say(f"gpucheck: cannot write to standard output: {error.strerror or error}")
        raise SystemExit(unwritable) from None


class Unwritable(click.UsageError):
    """An output file can't be opened."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"cannot write {path}: {why}")
        self.path = path


@contextlib.contextmanager
def output(path: str | None, until: float, *, in_place: bool = False, exit_code: int = UNWRITTEN) -> Iterator[OutputFile | None]:
    """Open the output file before the run, so that an unwritable path fails at once; it is never left half-written.

    Args:
        path: path of the file; None and "-" are standard output.
        until: the end of the run, see OutputFile.
        in_place: see OutputFile.
        exit_code: the exit code if the disk is full after the run.

    Raises:
        Unwritable: the file can't be written.
    """
    if path in (None, "-"):
        yield None
        return
    if path == "":
        raise click.UsageError(f"{path!r} is not a file name")
    try:
        file = OutputFile(path, in_place, until)
    except (OSError, ValueError) as error:  # ValueError: a null byte
        raise Unwritable(path, str(getattr(error, "strerror", None) or error)) from None
    try:
        yield file
    except OSError as error:
        if not file.failed:
            raise
        say(f"gpucheck: cannot write {path}: {error.strerror or error}")
        raise SystemExit(exit_code) from None
    finally:
        file.discard()


def standard_input(what: str) -> None:
    """Check that standard input is open if it will be read; on a terminal, print how to end it.

    Raises:
        click.UsageError: ``what`` is "-", and standard input is closed.
    """
    if what == "-" and sys.stdin is None:
        raise click.UsageError("standard input is closed, so nothing can be read from it")
    if what == "-" and sys.stdin.isatty():
        say(f"gpucheck: paste the text, then press {'Ctrl-Z and Enter' if os.name == 'nt' else 'Enter and Ctrl-D'}")


@contextlib.contextmanager
def progress_line(host: Any) -> Iterator[Callable[[list[str]], None] | None]:
    """Yield a function to call while waiting; the line is removed on exit.

    Without a terminal, --full and --soak print a line for each job instead; for other runs, yield None.
    """
    if sys.stderr is None or not sys.stderr.isatty():  # None: a service manager closed it
        from gpucheck.core.model import Level

        yield _job_lines(host) if host.request.soak_minutes or host.request.level >= Level.FULL else None
        return
    from gpucheck.core.reports.shared import progress_line

    with progress_line.line(host, sys.stderr, _columns) as tick:
        yield tick


def _job_lines(host: Any) -> Callable[[list[str]], None]:
    """Return a function to call while waiting: it prints a line when a job or an experiment begins."""
    from gpucheck.core.reports.shared import progress_line

    begun: set[str] = set()

    def tick(pending: list[str]) -> None:
        for doing in host.activities():
            kind = progress_line.wait(doing if doing.stage == "checksums" else doing._replace(step=""))
            if kind.phase in (progress_line.TRAIN, progress_line.EXPERIMENT) and kind.words not in begun:
                begun.add(kind.words)
                say(f"gpucheck: {kind.words[0].lower()}{kind.words[1:]}")

    return tick


def measurement_lines(host: Any) -> Callable[[list[str]], None]:
    """Return a function to call while measuring: it prints a line when a configuration begins, for a log without a terminal."""
    begun: list[str] = []
    most = [0]

    def tick(pending: list[str]) -> None:
        most[0] = max(most[0], len(pending))
        for doing in host.activities():
            if doing.stage == "measure" and doing.job not in begun:
                begun.append(doing.job)
                say(f"gpucheck: measuring {len(begun)} of {most[0]}: {doing.job}")

    return tick


@contextlib.contextmanager
def progress_text() -> Iterator[Callable[[str], None] | None]:
    """Yield a function that replaces the line; None if standard error is not a terminal. The line is removed on exit."""
    if sys.stderr is None or not sys.stderr.isatty():  # None: a service manager closed it
        yield None
        return

    def replace(text: str) -> None:
        say(f"\r\x1b[K{text[: _columns() - 1]}", nl=False)

    try:
        yield replace
    finally:
        replace("")


def _columns() -> int:
    """Return the columns of the terminal at standard error, because standard output may be a file."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):
        return 80
