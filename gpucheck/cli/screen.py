"""Between a rendered text and the user: the look of standard output, the output file, the progress line."""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO

import click

from gpucheck.model import ExitCode
from gpucheck.output import OutputFile, write


def look(color: str, stream: TextIO | None = None) -> dict[str, Any]:
    """Width, colour and character set for standard output, or another stream."""
    stream = stream or sys.stdout
    tty = stream.isatty()
    wanted = color == "always" or (
        color == "auto" and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and tty
    )
    columns = shutil.get_terminal_size((80, 24)).columns if tty or os.environ.get("COLUMNS") else 80
    encoding = (stream.encoding or "ascii").lower().replace("-", "")
    return {"width": max(40, min(columns, 120)), "color": wanted, "ascii": not encoding.startswith("utf")}


def show(text: str, exit_code: int = 0) -> None:
    """Print a text; a reader that has gone is told on standard error and does not change the exit code."""
    try:
        write(text)
    except BrokenPipeError:
        click.echo("gpucheck: standard output was closed before the report was written", err=True)
        raise SystemExit(exit_code) from None


@contextlib.contextmanager
def output(path: str | None, *, in_place: bool = False, exit_code: int = ExitCode.UNKNOWN) -> Iterator[OutputFile | None]:
    """The output file, opened before the run: an unwritable place is known at once, a half-written file never seen.

    ``exit_code`` is for a disk that is full after the run; ``in_place`` as for OutputFile.
    """
    if path in (None, "-"):
        yield None
        return
    try:
        file = OutputFile(path, in_place)
    except OSError as error:
        raise click.UsageError(f"cannot write {path}: {error.strerror or error}") from None
    try:
        yield file
    except OSError as error:
        if not file.failed:
            raise
        click.echo(f"gpucheck: cannot write {path}: {error.strerror or error}", err=True)
        raise SystemExit(exit_code) from None
    finally:
        file.discard()


def progress_line(host: Any) -> Callable[[list[str]], None] | None:
    """What to call while waiting; None where standard error is no terminal."""
    if sys.stderr is None or not sys.stderr.isatty():  # None: a service manager closed it
        return None
    from gpucheck.reports.progress import Progress

    progress = Progress(width=lambda: shutil.get_terminal_size((80, 24)).columns)

    def tick(pending: list[str]) -> None:
        progress.update(pending, host.activity())

    tick.close = progress.close  # type: ignore[attr-defined]
    return tick
