"""Which formats there are, and a report's way into each: ``--format``, ``--report``, ``--redact``, ``--exit-style``."""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import click

from gpucheck.cli.screen import look, output, show
from gpucheck.model import Report
from gpucheck.output import OutputFile

STYLES = ("default", "nagios", "npd", "docker")
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"


class Format(NamedTuple):
    """What a format asks for beside its file in ``gpucheck/reports``."""

    redacted: bool = False  # unless --no-redact: what is meant to be shown to strangers
    extra: str | None = None  # the extra of the distribution that it needs
    in_place: bool = False  # written into the file that is there: the kubelet mounts its own, which can't be renamed over


FORMATS = {
    "terminal": Format(),
    "json": Format(),
    "markdown": Format(redacted=True),
    "html": Format(redacted=True, extra="html"),
    "junit": Format(),
    "github": Format(),
    "prometheus": Format(extra="prometheus"),
    "nagios": Format(),
    "npd": Format(),
    "termination": Format(in_place=True),
}


class ReportFile(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """``FORMAT=FILE``."""

    name = "format=file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """Split it, and refuse formats that don't exist."""
        if isinstance(value, tuple):
            return value
        style, equals, path = str(value).partition("=")
        if not equals or style not in FORMATS:
            self.fail(f"{value!r} is not FORMAT=FILE with one of the formats {', '.join(FORMATS)}", param, ctx)
        if path in ("", "-"):
            self.fail(f"{value!r} names no file; --format {style} writes to standard output", param, ctx)
        return style, path


class StyledCommand(click.Command):
    """A command whose own failures follow ``--exit-style`` too: wrong usage is no CRITICAL, and a bug of ours no fault."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse, with the style's exit code for wrong usage."""
        style = _asked_style(args)
        with _usage(style):
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run, likewise; what nobody expected is no verdict."""
        style = str(ctx.params.get("exit_style") or "default")
        with _usage(style):
            try:
                return super().invoke(ctx)
            except (click.ClickException, click.exceptions.Exit, click.Abort):
                raise
            except Exception:
                import traceback

                traceback.print_exc()
                click.echo("gpucheck: this is a bug of gpucheck; please report it", err=True)
                raise SystemExit(exit_code_of("unknown", style)) from None


class Delivery:
    """Every file of one run, opened before it; ``deliver`` fills them after it."""

    def __init__(self, targets: list[tuple[str, OutputFile | None]], redacting: bool | None) -> None:
        self._targets = targets
        self._redacting = redacting
        self._redacted: Report | None = None

    def deliver(self, report: Report, color: str, verbose: bool, exit_code: int) -> None:
        """Render into every file, then to standard output; a full disk does not keep the other reports from being written."""
        problem: OSError | None = None
        if any(style == "github" for style, _ in self._targets):
            _append_summary(self._prepared(report, "markdown"))
        for style, file in sorted(self._targets, key=lambda target: target[1] is None):
            plain = self._prepared(report, style)
            text = _render(style, plain, color, verbose, to_file=file is not None)
            if file is None:
                show(text, exit_code)
                continue
            try:
                file.commit(text)
            except OSError as error:
                problem = error
        if problem is not None:
            raise problem

    def _prepared(self, report: Report, style: str) -> Report:
        wanted = FORMATS[style].redacted if self._redacting is None else self._redacting
        if wanted and self._redacted is None:
            from gpucheck.redact import redact

            self._redacted = redact(report, hosts=_hosts(), users=_users())
        return self._redacted if wanted and self._redacted is not None else report


@contextlib.contextmanager
def delivery(
    style: str, target: str | None, reports: tuple[tuple[str, str], ...], redacting: bool | None, exit_style: str
) -> Iterator[Delivery]:
    """Everything that the run will write, checked and opened before it.

    Raises:
        click.UsageError: a format's extra is missing, two reports go into one file, or a file can't be written.
    """
    files = [*([(style, target)] if target not in (None, "-") else []), *reports]
    for name in (style, *(name for name, _ in reports)):
        _load(name)
    places = [os.path.realpath(path) for _, path in files]
    for number, place in enumerate(places):
        if place in places[:number] and (os.path.isfile(place) or not os.path.exists(place)):
            raise click.UsageError(f"two reports would go into {files[number][1]}")
    with contextlib.ExitStack() as stack:
        unknown = exit_code_of("unknown", exit_style)
        targets: list[tuple[str, OutputFile | None]] = [
            (name, stack.enter_context(output(path, in_place=FORMATS[name].in_place, exit_code=unknown))) for name, path in files
        ]
        if target in (None, "-"):
            targets.append((style, None))
        yield Delivery(targets, redacting)


def exit_code_of(state: str, exit_style: str) -> int:
    """The exit code of a state ("usage", "unknown") in a style."""
    from gpucheck.reports._headline import EXIT_STYLES

    return EXIT_STYLES[exit_style][state]


def _asked_style(args: list[str]) -> str:
    """The style in arguments that may not parse."""
    for number, argument in enumerate(args):
        name, equals, value = argument.partition("=")
        if name == "--exit-style":
            value = value if equals else next(iter(args[number + 1 :]), "")
            return value if value in STYLES else "default"
    return "default"


@contextlib.contextmanager
def _usage(style: str) -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        if style == "default":
            raise
        error.show()
        raise SystemExit(exit_code_of("usage", style)) from None


def _load(style: str) -> Any:
    try:
        return importlib.import_module(f"gpucheck.reports.{style}")
    except ImportError as error:
        extra = FORMATS[style].extra
        if extra is None or (error.name or "").startswith("gpucheck"):
            raise
        raise click.UsageError(
            f'the format {style} needs {error.name or "a package"}: pip install "keras-gpucheck[{extra}]"'
        ) from None


def _render(style: str, report: Report, color: str, verbose: bool, to_file: bool) -> str:
    module = _load(style)
    if style != "terminal":
        return str(module.render(report))
    screen = look("never" if to_file and color == "auto" else color)
    return str(module.render(report, verbose=verbose, **screen))


def _append_summary(report: Report) -> None:
    """The step's page on GitHub, which other commands of the step may have begun."""
    path = os.environ.get(STEP_SUMMARY)
    if not path:
        return
    from gpucheck.reports import github

    try:
        room = github.SUMMARY_BYTES - (os.path.getsize(path) if os.path.exists(path) else 0)
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(github.summary(report, room))
    except OSError as error:
        click.echo(f"gpucheck: cannot append to {STEP_SUMMARY}: {error.strerror or error}", err=True)


def _hosts() -> list[str]:
    """Names of this machine. The system's name service is not asked: it may hang."""
    import platform

    return [name for name in (platform.node(), os.environ.get("HOSTNAME"), os.environ.get("COMPUTERNAME")) if name]


def _users() -> list[str]:
    names = [os.environ.get(variable) for variable in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")]
    if sys.platform != "win32":
        import pwd

        with contextlib.suppress(KeyError, OSError):  # a user id without a name, as containers have
            names.append(pwd.getpwuid(os.getuid()).pw_name)
    return [name for name in names if name]
