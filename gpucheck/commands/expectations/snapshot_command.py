"""The command ``snapshot``: a known-good machine, written down as an expectations file."""

import click

from gpucheck.cli.parameters import Command, FilePath
from gpucheck.cli.request import diagnose_here, request_options
from gpucheck.cli.screen import look, output, say, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.model import Report, Request, Verdict

EXAMPLES = """\b
Examples:
  gpucheck snapshot expected.toml            on the machine that is known to be good
  gpucheck --expect expected.toml            on every machine that should be like it
  gpucheck compare expected.toml             what is different here
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("file", type=FilePath(dir_okay=False, allow_dash=True))
@request_options(expect=False)
@click.option("--node", is_flag=True, help="Of the machine itself alone, as `gpucheck node` sees it.")
@click.option("--force", is_flag=True, help="Write it although this machine has a fault, or could not be looked at.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="NO_COLOR is honoured too.")
@click.pass_obj
def snapshot(limit: TimeLimit, request: Request, file: str, force: bool, color: str) -> None:
    """Check this machine, and write what it is as expectations to FILE ("-": standard output).

    A machine with a fault (exit code 1), or one without a verdict (3), is refused: nothing is written then.
    """
    with output(file, limit.end) as target:
        report = diagnose_here(request, limit, write_partial=lambda partial: [lambda: _say_refusal(partial, color)])
        if report.verdict not in (Verdict.PASS, Verdict.WARN) and not force:
            _refuse(report, color)
        text = _render(report)
        if target is not None:
            target.commit(text)
        else:
            show(text)


def _render(report: Report) -> str:
    from gpucheck.commands.expectations import snapshot

    return snapshot.render(snapshot.expectations(report), report)


def _refuse(report: Report, color: str) -> None:
    _say_refusal(report, color)
    raise SystemExit(report.exit_code or 1)


def _say_refusal(report: Report, color: str) -> None:
    from gpucheck.core.reports import terminal

    say(terminal.render(report, verbose=False, **look(color)), nl=False)
    say("gpucheck: nothing was written: this is no known-good machine (--force writes all the same)")
