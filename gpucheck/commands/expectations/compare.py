"""The command ``compare``: show the differences between two checks of a machine."""

from typing import NoReturn

import click

from gpucheck.cli.parameters import COLOR, Command, FilePath
from gpucheck.cli.request import diagnose_here, request_options
from gpucheck.cli.screen import display_options, say, show
from gpucheck.cli.time_limit import TimeLimit, Write
from gpucheck.commands.expectations import drift, fits
from gpucheck.commands.expectations.drift import Drift
from gpucheck.core.model import Expectations, FitExpectations, Level, Report, Request
from gpucheck.core.reports import json

EXAMPLES = """\b
Examples:
  gpucheck --format json --output good.json      while the machine is healthy
  gpucheck compare good.json                     compare this machine with it
  gpucheck compare good.json bad.json            two reports, of one machine or of two
  gpucheck compare expected.toml --format markdown
  gpucheck compare fit1.json fit2.json           two training runs: Watch(report="fit1.json")
  gpucheck compare expected.toml fit2.json       a training run with the table [fit]
"""
SUMMARY = "the summary of a training run"
NO_BASELINE = (
    f'neither a report (--format json), {SUMMARY} (Watch(report="fit.json")), nor an expectations file (`gpucheck snapshot`)'
)


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("baseline", type=FilePath(allow_dash=True))
@click.argument("current", type=FilePath(allow_dash=True), required=False)
@request_options(level=Level.QUICK, expect=False)
@click.option("--node", is_flag=True, help="Check only the machine itself, like `gpucheck node`.")
@click.option("--default", is_flag=True, help="Also check TensorFlow and train, like `gpucheck check`.")
@click.option("--format", "style", type=click.Choice(["terminal", "json", "markdown"]), default="terminal", show_default=True)
@COLOR
@click.option("-v", "--verbose", is_flag=True, help="Also show what could not be compared, and why.")
@click.pass_obj
def compare(
    limit: TimeLimit,
    request: Request,
    baseline: str,
    current: str | None,
    style: str,
    color: str,
    verbose: bool,
) -> None:
    """Show the differences from BASELINE: a JSON report, or a file that `gpucheck snapshot` wrote.

    CURRENT is a JSON report. Without it, this machine is checked (with --quick, unless a deeper level is given).

    Also compares two summaries of training runs that Watch(report="fit.json") wrote, or one summary with the table [fit] of an
    expectations file. Exit codes: 0 no differences; 1 differences; 2 a file can't be read, or BASELINE contains no expectations.
    """
    if baseline == current == "-":
        raise click.UsageError("only one of the two can come from standard input")
    text = _read(baseline)
    latest = None if current is None else _read(current)
    if (of_trainings := _between_trainings(text, latest, baseline, current or "")) is not None:
        _finish(of_trainings, style, color, verbose)
    old = _report(text, baseline) if text.lstrip()[:1] == b"{" else _expectations(text, baseline)
    if isinstance(old, Report) and not drift.PROBES.keys() & old.facts.keys():
        raise click.UsageError(f"{baseline}: a report without facts is not a baseline")
    names = (baseline, current or "this machine")

    def compared(new: Report) -> Drift:
        return drift.between(old, new, *names) if isinstance(old, Report) else drift.from_expectations(old, new, *names)

    def write_partial(partial: Report) -> list[Write]:
        text = _render(compared(partial), style, color, verbose)
        return [lambda: show(text)]

    differences = compared(
        _report(latest, current)
        if latest is not None and current is not None
        else diagnose_here(request, limit, write_partial=write_partial)
    )
    _finish(differences, style, color, verbose)


def _between_trainings(text: bytes, latest: bytes | None, baseline: str, current: str) -> Drift | None:
    """Compare the summary of a training run with another, or with [fit]; None without one."""
    fit, other = fits.read(text), None if latest is None else fits.read(latest)
    if fit is not None:
        if other is None:
            words = f", and {current} is a report of a machine" if latest is not None and _is_report(latest) else ""
            raise click.UsageError(f"{baseline}: {SUMMARY} can only be compared with another one{words}")
        return fits.between(fit, other, baseline, current)
    if other is not None:
        if _is_report(text):
            raise click.UsageError(f"{baseline} is a report of a machine, and {current} is {SUMMARY}: they can't be compared")
        limits = _expectations(text, baseline, of_fit=True).fit
        if limits == FitExpectations():
            raise click.UsageError(f"{baseline}: it has no table [fit] to compare with {SUMMARY}")
        return fits.expected(limits, other, baseline, current)
    if latest is not None and latest.lstrip()[:1] != b"{":
        raise click.UsageError(f'{current}: neither a report (--format json) nor {SUMMARY} (Watch(report="fit.json"))')
    return None


def _finish(differences: Drift, style: str, color: str, verbose: bool) -> NoReturn:
    code = 1 if differences.changes else 0
    show(_render(differences, style, color, verbose), code)
    missing = len(differences.not_compared)
    left = f"{missing} not compared (use -v for details)" if missing and not verbose else ""
    if style != "json" and (left or not code):
        say("gpucheck: " + ("; ".join(filter(None, ("" if code else f"nothing changed since {differences.baseline}", left)))))
    raise SystemExit(code)


def _render(differences: Drift, style: str, color: str, verbose: bool) -> str:
    if style == "json":
        return json.render(differences)
    if style == "markdown":
        return drift.render_markdown(differences)
    return drift.render(differences, verbose=verbose, **display_options(color))


def _read(path: str) -> bytes:
    from gpucheck.core.system.read import REPORT_BYTES_MAX, Refused, read

    try:
        return read(path, REPORT_BYTES_MAX, dash=True)
    except Refused as error:
        raise click.UsageError(str(error)) from None


def _report(text: bytes, name: str) -> Report:
    from gpucheck.core.engine.recorded import Unreadable, replay

    try:
        return replay(text)
    except Unreadable as error:
        raise click.UsageError(f"{name}: {error}") from None


def _expectations(text: bytes, name: str, *, of_fit: bool = False) -> Expectations:
    from gpucheck.core.expectations.read import Problem, baseline, convert
    from gpucheck.core.expectations.toml import load

    try:
        return convert(load(text.decode(), name), text.decode(), name) if of_fit else baseline(text.decode(), name)
    except UnicodeDecodeError:
        raise click.UsageError(f"{name}: {NO_BASELINE}") from None
    except Problem as error:
        another = ": not TOML: " in str(error) and not name.endswith(".toml")
        raise click.UsageError(f"{name}: {NO_BASELINE}" if another else str(error)) from None


def _is_report(text: bytes) -> bool:
    """Whether a text looks like the JSON report of a machine."""
    return text.lstrip()[:1] == b"{" and b'"facts"' in text
