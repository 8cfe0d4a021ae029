"""The command ``check``: from options to a request, from the report to the screen or a file."""

from typing import Any

import click

from gpucheck.cli.formats import FORMATS, STYLES, ReportFile, delivery, format_of
from gpucheck.cli.parameters import EXAMPLES, Command, FilePath
from gpucheck.cli.request import diagnose_here, request_options, typed
from gpucheck.model import Report, Request

LARGEST_BYTES = 1 << 23  # of a report: a machine of 1,000 GPUs takes 2 MB


class Recorded(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A report that was written before, as its name and its bytes; "-" is standard input."""

    name = "report"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, bytes]:
        """Read it."""
        from gpucheck.files.read import Refused, read

        try:
            return value, read(value, LARGEST_BYTES, dash=True)
        except Refused as error:
            self.fail(str(error), param, ctx)


@click.command(cls=Command, epilog=EXAMPLES)
@request_options()
@click.option(
    "--format",
    "style",
    type=click.Choice(list(FORMATS)),
    default="terminal",
    show_default="as --output's name ends (.json, .html, .md, .xml, .prom), else terminal",
    metavar="FORMAT",
    help=f"One of: {', '.join(FORMATS)}.",
)
@click.option(
    "--output", "target", type=FilePath(dir_okay=False), metavar="FILE", help="Write the report here, whole or not at all."
)
@click.option(
    "--report",
    "reports",
    type=ReportFile(),
    multiple=True,
    metavar="FORMAT=FILE",
    help="Write another report here, whole or not at all; may be repeated.",
)
@click.option(
    "--redact/--no-redact",
    "redacting",
    default=None,
    help="Aliases for hosts, users, homes, UUIDs, serials, addresses, secrets. [default: in markdown and html]",
)
@click.option(
    "--exit-style",
    type=click.Choice(STYLES),
    default="default",
    show_default=True,
    help="Whose exit codes: gpucheck's, Nagios', node-problem-detector's, Docker's health check's.",
)
@click.option(
    "--replay",
    "recorded",
    type=Recorded(),
    metavar="REPORT",
    help="Judge the facts of a JSON report again, instead of looking at this machine.",
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="NO_COLOR is honoured too.")
@click.option("-v", "--verbose", is_flag=True, help="Also what was ruled out, what was not looked at and why, and timings.")
@click.pass_obj
def check(
    started: float,
    request: Request,
    style: str,
    target: str | None,
    reports: tuple[tuple[str, str], ...],
    redacting: bool | None,
    exit_style: str,
    recorded: tuple[str, bytes] | None,
    color: str,
    verbose: bool,
) -> None:
    """Check this machine, and train on every device as the proof (the default command)."""
    if not typed("style"):
        style = format_of(target) or style
    with delivery(style, target, reports, redacting, exit_style, started + request.timeout_seconds) as files:
        if recorded is None:
            report = diagnose_here(request, started, at_last=lambda known: files.at_last(known, color, verbose))
        else:
            report = _replay(*recorded, request)
        exit_code = _exit_code(report, exit_style)
        files.deliver(report, color, verbose, exit_code)
    raise SystemExit(exit_code)


def _exit_code(report: Report, exit_style: str) -> int:
    if exit_style == "default":
        return report.exit_code
    from gpucheck.model.exit_styles import exit_code

    return exit_code(report, exit_style)


def _replay(name: str, text: bytes, request: Request) -> Report:
    from gpucheck.engine.replay import Unreadable, replay

    try:
        return replay(text, request.allow_cpu, request.strict, request.expectations)
    except Unreadable as error:
        raise click.UsageError(f"{name}: {error}") from None
