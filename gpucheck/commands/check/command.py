"""The command ``check``: turn options into a request, and write the report to the terminal or a file."""

import os
import platform
from typing import Any

import click
import msgspec

from gpucheck.cli.delivery import delivery
from gpucheck.cli.exit_styles import exit_code
from gpucheck.cli.formats import STYLES, Outputs, report_options
from gpucheck.cli.parameters import EXAMPLES, MINUTES, Command, typed
from gpucheck.cli.request import diagnose_here, request_options
from gpucheck.cli.screen import say
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.model import Level, Report, Request


class Recorded(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A recorded report, as its name and its bytes; "-" is standard input."""

    name = "report"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, bytes]:
        """Read the file."""
        from gpucheck.core.system.read import REPORT_BYTES_MAX, Refused, read

        try:
            return value, read(value, REPORT_BYTES_MAX, dash=True)
        except Refused as error:
            self.fail(str(error), param, ctx)


@click.command(cls=Command, epilog=EXAMPLES)
@request_options()
@report_options(STYLES)
@click.option(
    "--brief", is_flag=True, help="Print at most fifteen redacted lines to paste into an issue. Same as --format brief."
)
@click.option(
    "--open", "opened", is_flag=True, help="Open the HTML report in the browser. Redacted only with --report or --redact."
)
@click.option(
    "--replay",
    "recorded",
    type=Recorded(),
    metavar="REPORT",
    help="Judge the facts of a JSON report again, instead of checking this machine.",
)
@click.option(
    "--soak",
    "soak_minutes",
    type=MINUTES,
    metavar="MINUTES",
    help="Repeat computations on every device for this long, and compare the results bit by bit. Extends --timeout.",
)
@click.pass_obj
def check(
    limit: TimeLimit,
    request: Request,
    outputs: Outputs,
    brief: bool,
    recorded: tuple[str, bytes] | None,
    soak_minutes: float | None,
    opened: bool,
) -> None:
    """Check this machine, and train briefly on every device (the default command)."""
    if brief and typed("style"):
        raise click.UsageError("--brief is --format brief, and can't be combined with --format")
    if soak_minutes is not None:
        if recorded is not None:
            raise click.UsageError("--soak computes on this machine, and --replay does not")
        request = _with_soak(request, soak_minutes)
        limit.set(request.timeout_seconds)
    if brief:
        outputs = outputs._replace(style="brief")
    page = _own_page() if opened else None
    if page is not None:
        redacting = False if outputs.redacting is None and not outputs.reports else outputs.redacting
        outputs = outputs._replace(redacting=redacting, reports=(*outputs.reports, ("html", page)))
    rank = 0 if brief or typed("style") or outputs.target is not None else _rank(request)
    with delivery(outputs._replace(style=None) if rank else outputs, limit) as files:
        if recorded is None:
            report = diagnose_here(request, limit, write_partial=files.write_partial)
        else:
            report = _replay(*recorded, request)
        code = exit_code(report, outputs.exit_style)
        files.deliver(report, code)
    if page is not None:
        _show_page(page)
    if rank and code:
        _print_own_fault(report, rank)
    raise SystemExit(code)


def _own_page() -> str:
    """Return the name of a page in a new folder that only this user can read."""
    import tempfile

    return os.path.join(tempfile.mkdtemp(prefix="gpucheck-"), "report.html")


def _show_page(path: str) -> None:
    import webbrowser

    say(f"gpucheck: {'opened' if webbrowser.open(f'file://{path}') else 'no browser found to open'} {path}")


def _with_soak(request: Request, minutes: float) -> Request:
    if not request.smoke or request.level <= Level.QUICK:
        raise click.UsageError("--soak requires training, which --quick and --no-smoke disable")
    seconds = request.timeout_seconds + 60 * minutes
    return msgspec.structs.replace(request, soak_minutes=minutes, timeout_seconds=seconds)


def _rank(request: Request) -> int:
    """Return the rank of this worker among those that started together; rank 0 reports for all."""
    if "multi_worker_mirrored" not in request.strategies:
        return 0
    from gpucheck.core.cluster.ranks import rank_of_size

    return rank_of_size(os.environ)[0]


def _print_own_fault(report: Report, rank: int) -> None:
    """Print one line, unless all faults belong to other workers."""
    from gpucheck.core.reports.shared.findings import roots
    from gpucheck.core.reports.shared.headline import headline

    workers = [name for finding in roots(report) for name in finding.affects if name.startswith("worker ")]
    if not workers or f"worker {rank}" in workers:
        say(f"gpucheck: worker {rank} on {platform.node()}: {report.verdict.value.upper()}: {headline(report)}")


def _replay(name: str, text: bytes, request: Request) -> Report:
    from gpucheck.core.engine.recorded import Unreadable, replay

    try:
        return replay(text, request.allow_cpu, request.strict, request.expectations)
    except Unreadable as error:
        raise click.UsageError(f"{name}: {error}") from None
