"""The command ``check``: from options to a request, from the report to the screen or a file."""

import contextlib
import signal
from typing import BinaryIO

import click

from gpucheck.cli.parameters import EXAMPLES, Interpreter, Seconds
from gpucheck.cli.screen import look, output, progress_line, show
from gpucheck.model import Level, Report, Request
from gpucheck.plugin import modules

STRATEGIES = [name.rpartition(".")[2] for name in modules("gpucheck.strategies")]


@click.command(epilog=EXAMPLES)
@click.option("--quick", "level", flag_value="quick", help="Everything that needs no TensorFlow import: a fraction of a second.")
@click.option("--full", "level", flag_value="full", help="Also other precisions, XLA-compiled training and several workers.")
@click.option("--allow-cpu", is_flag=True, help="A machine with no accelerator is fine (one with a broken one is not).")
@click.option("--no-smoke", is_flag=True, help="Look at TensorFlow, but train nothing.")
@click.option("--strict", is_flag=True, help="Warnings fail too.")
@click.option("--timeout", type=Seconds(), default=120.0, show_default=True, help="Limit of the whole run, report included.")
@click.option("--python", type=Interpreter(), metavar="PATH", help="Examine this interpreter's environment.")
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="NAME",
    type=click.Choice(STRATEGIES),
    help=f"Train with this strategy only; may be repeated. One of: {', '.join(STRATEGIES)}.",
)
@click.option("--format", "style", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True)
@click.option(
    "--output", "target", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report here, whole or not at all."
)
@click.option(
    "--replay",
    "recorded",
    type=click.File("rb"),
    metavar="REPORT",
    help="Judge the facts of a JSON report again, instead of looking at this machine.",
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="NO_COLOR is honoured too.")
@click.option("-v", "--verbose", is_flag=True, help="Also what was ruled out, what was not looked at and why, and timings.")
@click.pass_obj
def check(
    started: float,
    level: str | None,
    allow_cpu: bool,
    no_smoke: bool,
    strict: bool,
    timeout: float,
    python: str | None,
    strategies: tuple[str, ...],
    style: str,
    target: str | None,
    recorded: BinaryIO | None,
    color: str,
    verbose: bool,
) -> None:
    """Check this machine, and train on every device as the proof (the default command)."""
    if strategies and (no_smoke or level == "quick"):
        raise click.UsageError("--strategy asks for training, which --quick and --no-smoke leave out")
    request = Request(
        level=Level[(level or "default").upper()],
        allow_cpu=allow_cpu,
        smoke=not no_smoke,
        strict=strict,
        timeout_seconds=timeout,
        python=python,
        strategies=strategies,
    )
    with output(target) as file:
        report = _diagnose(request, started) if recorded is None else _replay(recorded, request)
        if style == "json":
            from gpucheck.reports import json

            text = json.render(report)
        else:
            text = _terminal(report, color, verbose, to_file=file is not None)
        if file is not None:
            file.commit(text)
        else:
            show(text, report.exit_code)
    raise SystemExit(report.exit_code)


def _diagnose(request: Request, started: float) -> Report:
    from gpucheck.host.local import LocalHost
    from gpucheck.pipeline import diagnose

    def terminate(*_: object) -> None:
        raise SystemExit(143)

    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, terminate)
    with LocalHost(request, started=started) as host:
        if request.python is not None and "problem" in host.interpreter():
            raise click.UsageError(f"{request.python} did not answer as a Python interpreter: {host.interpreter()['problem']}")
        progress = progress_line(host)
        try:
            return diagnose(host, started, progress)
        except KeyboardInterrupt:
            raise SystemExit(130) from None
        finally:
            if progress is not None:
                progress.close()  # type: ignore[attr-defined]


def _replay(recorded: BinaryIO, request: Request) -> Report:
    from gpucheck.replay import Unreadable, replay

    try:
        return replay(recorded.read(), allow_cpu=request.allow_cpu, strict=request.strict)
    except Unreadable as error:
        raise click.UsageError(f"{recorded.name}: {error}") from None


def _terminal(report: Report, color: str, verbose: bool, to_file: bool) -> str:
    from gpucheck.reports import terminal

    return terminal.render(report, verbose=verbose, **look("never" if to_file and color == "auto" else color))
