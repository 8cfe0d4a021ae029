"""The command ``snapshot``: write a known-good machine as an expectations file."""

import click

from gpucheck.cli.parameters import Command, FilePath
from gpucheck.cli.request import diagnose_here, request_options
from gpucheck.cli.screen import display_options, output, say, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.model import Report, Request, Verdict
from gpucheck.core.system.shells import word

EXAMPLES = """\b
Examples:
  gpucheck snapshot expected.toml            on the machine that is known to be good
  gpucheck --expect expected.toml            on every machine that should be like it
  gpucheck compare expected.toml             what is different here
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("file", type=FilePath(dir_okay=False, allow_dash=True))
@request_options(expect=False)
@click.option("--node", is_flag=True, help="Only the machine itself, like `gpucheck node`.")
@click.option("--force", is_flag=True, help="Write it even if this machine has a fault, or no verdict.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="NO_COLOR is honoured too.")
@click.pass_obj
def snapshot(limit: TimeLimit, request: Request, file: str, force: bool, color: str) -> None:
    """Check this machine, and write its state as expectations to FILE ("-": standard output).

    For a machine with a fault (exit code 1), or without a verdict (3), nothing is written.
    """
    from gpucheck.commands.expectations.snapshot import expectations, render

    with output(file, limit.end) as target:
        report = diagnose_here(request, limit, write_partial=lambda partial: [lambda: _print_refusal(partial, file, color)])
        if report.verdict not in (Verdict.PASS, Verdict.WARN) and not force:
            _print_refusal(report, file, color)
            raise SystemExit(report.exit_code or 1)
        text = render(expectations(report), report)
        if target is not None:
            target.commit(text)
            say(f"gpucheck: wrote {file}")
        else:
            show(text)


def _print_refusal(report: Report, file: str, color: str) -> None:
    from gpucheck.core.reports import terminal

    text = terminal.render(report, verbose=False, **display_options(color))
    say(text.replace("gpucheck --allow-cpu", f"gpucheck snapshot --allow-cpu {word(file)}"), nl=False)
    say("gpucheck: nothing was written: this is not a known-good machine (use --force to write anyway)")
