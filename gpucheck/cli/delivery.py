"""Write a report to each requested file and to standard output."""

import contextlib
import functools
import importlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from typing import Any

import click

from gpucheck.cli import installation, time_limit
from gpucheck.cli.exit_styles import EXIT_STYLES, values_of
from gpucheck.cli.formats import FORMATS, Outputs
from gpucheck.cli.screen import UNWRITTEN, Unwritable, display_options, output, say, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.model import Level, Report, Request, Verdict
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout
from gpucheck.core.system.write import OutputFile

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


class Delivery:
    """The output files of one run: opened before the run, written by ``deliver`` after it."""

    def __init__(self, outputs: Outputs, targets: list[tuple[str, OutputFile | None]], unwritable: int, limit: TimeLimit) -> None:
        self._outputs = outputs
        self._targets = targets
        self._unwritable = unwritable
        self._until = limit.end
        self._seconds = limit.ending.redaction
        self._redacted: Report | None = None

    def deliver(self, report: Report, exit_code: int) -> None:
        """Write the files, then standard output; if one can't be written (a full disk), the others are still written."""
        problem: OSError | None = None
        if any(style == "github" for style, _ in self._targets):
            _append_summary(self._prepared(report, "markdown"))
        for style, file in sorted(self._targets, key=lambda target: target[1] is None):
            text = self._rendered(report, style, file)
            try:
                _write(text, file, style, exit_code if problem is None else self._unwritable, self._unwritable)
            except OSError as error:
                problem = error
        if problem is not None:
            raise problem

    def write_partial(self, report: Report) -> Iterator[time_limit.Write]:
        """Render the partial report in every format; runs in a different thread from the one that hangs."""
        # The other thread may hang in redaction, so this one does not wait for it.
        self._until, self._redacted = time.monotonic() + self._seconds / 2, None
        for style, file in sorted(self._targets, key=lambda target: target[1] is not None):
            with contextlib.suppress(Exception):  # one failed format does not affect the others
                yield functools.partial(_write, self._rendered(report, style, file), file, style)

    def _rendered(self, report: Report, style: str, file: OutputFile | None) -> str:
        return _render(style, self._prepared(report, style), self._outputs, to_file=file is not None)

    def _prepared(self, report: Report, style: str) -> Report:
        redacting = self._outputs.redacting
        redact = FORMATS[style].redacted if redacting is None else redacting
        if redact and self._redacted is None:
            self._redacted = redacted(report, self._until + self._seconds)
        return self._redacted if redact and self._redacted is not None else report


def redacted(report: Report, end: float) -> Report:
    """Return the report without values that identify this machine, its user, or machines and users in its texts.

    Args:
        report: any report.
        end: text that is not redacted at this time is omitted.
    """
    from gpucheck.core.reports.redaction import redact

    return redact(report, hosts=_hosts(), users=_users(), has_time=lambda: time.monotonic() < end)


@contextlib.contextmanager
def delivery(outputs: Outputs, limit: TimeLimit) -> Iterator[Delivery]:
    """Check and open every output before the run.

    Raises:
        Unwritable: a file can't be written.
        click.UsageError: a format's extra is missing, or two reports have the same file.
    """
    style, target = outputs.style, outputs.target
    files = [*([(style, target)] if style is not None and target not in (None, "-") else []), *outputs.reports]
    for name in filter(None, (style, *(name for name, _ in outputs.reports))):
        if FORMATS[name].extra:  # formats without an extra are always installed, and are imported later
            _load(name)
    places: list[str] = []
    for _, path in files:
        try:
            place, several = with_timeout(FILE_SECONDS, _place, path)
        except NoResponse as error:
            raise Unwritable(path, str(error.strerror)) from None
        if place in places and not several:
            raise click.UsageError(f"two reports would be written to {path}")
        places.append(place)
    with contextlib.ExitStack() as stack:
        unknown = EXIT_STYLES[outputs.exit_style]["unknown"]
        limit.exit_code = unknown
        targets: list[tuple[str, OutputFile | None]] = [
            (name, stack.enter_context(output(path, limit.end, in_place=FORMATS[name].in_place, exit_code=unknown)))
            for name, path in files
        ]
        if style is not None and target in (None, "-"):
            targets.append((style, None))
        yield Delivery(outputs, targets, unknown, limit)


def _write(text: str, file: OutputFile | None, style: str, exit_code: int = 0, unwritable: int = UNWRITTEN) -> None:
    if file is None:
        show(text, exit_code, unwritable, commands=style == "github")
    else:
        time_limit.lock(file)
        file.commit(text)


def _place(path: str) -> tuple[str, bool]:
    """Return the resolved path, and whether several reports can be written to it (a pipe)."""
    try:
        place = os.path.realpath(path)
        return place, os.path.exists(place) and not os.path.isfile(place)
    except (OSError, ValueError):  # the current folder was removed; opening the file reports it
        return path, False


def _load(style: str) -> Any:
    try:
        return importlib.import_module(f"gpucheck.core.reports.{style}")
    except ImportError as error:
        extra = FORMATS[style].extra
        if extra is None or (error.name or "").startswith("gpucheck"):
            raise
        command = installation.extra_command(extra)
        raise click.UsageError(f"the format {style} needs {error.name or 'a package'}: {command}") from None


def _render(style: str, report: Report, outputs: Outputs, to_file: bool) -> str:
    module = _load(style)
    if style != "terminal":
        return str(module.render(report))
    options = display_options("never" if to_file and outputs.color == "auto" else outputs.color)
    again = _as_typed() if report.verdict is Verdict.FAIL else None
    following = None if to_file else _following(report)
    text = str(module.render(report, verbose=outputs.verbose, again=again, following=following, **options))
    return _with_own_expectations(text)


def _with_own_expectations(text: str) -> str:
    """Return the text with the file of the option --expect in its commands, instead of the usual name."""
    from gpucheck.core.system.shells import word

    files = list(values_of("--expect", sys.argv))
    return text.replace(" expected.toml", f" {word(files[0])}") if len(files) == 1 else text


def _following(report: Report) -> str | None:
    """Return the next command for a user at a terminal after a pass: the check that trains, then the training itself."""
    request = report.fact(Request)
    if request is None or report.verdict is not Verdict.PASS or request.level is Level.NODE or request.python is not None:
        return None
    typed = _as_typed(arguments=False) if sys.stdout is not None and sys.stdout.isatty() else None  # None: it was closed
    allowed = " --allow-cpu" if request.allow_cpu else ""
    if typed is None or (request.level is not Level.QUICK and request.smoke):
        return typed and f"{typed} run{allowed} -- python train.py"
    return typed + allowed


def _as_typed(*, arguments: bool = True) -> str | None:
    """Return the command line that was typed for this report; None for a recorded report, or if nothing was typed."""
    program, *given = sys.argv
    if time_limit.enforced() is None or any(argument.startswith("--replay") for argument in given):
        return None
    from gpucheck.core.system.shells import word

    if os.path.basename(program) == "__main__.py" or installation.in_one_file():
        whole = sys.orig_argv if arguments else sys.orig_argv[: len(sys.orig_argv) - len(given)]
        return " ".join(map(word, whole))
    # uvx adds its own folder to PATH, but not to the shell's PATH.
    name = "gpucheck" if shutil.which("gpucheck") == program and not installation.in_uvx_cache(sys.prefix) else word(program)
    return " ".join([name, *map(word, given)]) if arguments else name


def _append_summary(report: Report) -> None:
    """Append to the GitHub step summary; other commands of the step may have written to it."""
    path = os.environ.get(STEP_SUMMARY)
    if not path:
        return
    from gpucheck.core.reports import github

    def append() -> None:
        room = github.SUMMARY_BYTES - (os.path.getsize(path) if os.path.exists(path) else 0)
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(github.summary(report, room))

    try:
        with_timeout(FILE_SECONDS, append)
    except OSError as error:
        say(f"gpucheck: cannot append to {STEP_SUMMARY}: {error.strerror or error}")


def _hosts() -> list[str]:
    """Return this machine's host names, without the system's name service, which may hang."""
    import platform

    return [name for name in (platform.node(), os.environ.get("HOSTNAME"), os.environ.get("COMPUTERNAME")) if name]


def _users() -> list[str]:
    names = [os.environ.get(variable) for variable in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")]
    if sys.platform != "win32":
        import pwd

        with contextlib.suppress(KeyError, OSError):  # a user id without a name, as in containers
            names.append(pwd.getpwuid(os.getuid()).pw_name)
    return [name for name in names if name]
