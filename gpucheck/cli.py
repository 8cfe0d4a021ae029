"""The command line: parse, call, print, exit. The only file that knows click."""

import contextlib
import math
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

STARTED = time.monotonic()

import click  # noqa: E402 - the clock starts before the imports do

from gpucheck import __version__  # noqa: E402
from gpucheck.model import ExitCode, Level, Report, Request  # noqa: E402
from gpucheck.output import OutputFile, write  # noqa: E402
from gpucheck.plugin import modules  # noqa: E402

EXAMPLES = """\b
Examples:
  gpucheck                              will this machine train on every GPU it has?
  gpucheck --quick                      the same without importing TensorFlow
  gpucheck --allow-cpu                  a machine without an accelerator is fine
  gpucheck --python .venv/bin/python    examine another environment
  gpucheck --format json --output report.json
  gpucheck explain cuda-libraries-unreachable
"""


class DefaultToCheck(click.Group):
    """A group whose options without a command belong to ``check``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``check`` before options that are not the group's own."""
        own = {"--help", "-h", "--version"}
        completing = ctx.resilient_parsing and not args  # commands are offered too, so none is chosen yet
        if not completing and (not args or (args[0].startswith("-") and args[0] not in own)):
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Complete the options of ``check`` too."""
        found = super().shell_complete(ctx, incomplete)
        return found + check.shell_complete(ctx, incomplete) if incomplete.startswith("-") else found


class Seconds(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A finite, positive number of seconds."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuse what is not a number, NaN, infinity, zero and below."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds > 0):
            self.fail(f"{value!r} is not a positive number of seconds", param, ctx)
        return seconds


class Interpreter(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A program that can be run; whether it is a Python shows when it is asked."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Resolve a name on PATH or a path."""
        found = shutil.which(os.path.expanduser(str(value)))
        if found is None:
            self.fail(f"{value!r} is not a program that can be run", param, ctx)
        return os.path.abspath(found)


@click.group(
    cls=DefaultToCheck,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="gpucheck %(version)s")
def cli() -> None:
    """Will this machine train Keras on every device it has? If not: the one root cause, and what to type.

    `gpucheck` alone is `gpucheck check`. Exit codes: 0 healthy, 1 a fault, 2 wrong usage, 3 no verdict could be reached.
    """


@cli.command(epilog=EXAMPLES)
@click.option(
    "--quick", "level", flag_value="quick", help="Everything that needs no TensorFlow import: a fraction of a second."
)
@click.option(
    "--full", "level", flag_value="full", help="Also other precisions, XLA-compiled training and several workers."
)
@click.option("--allow-cpu", is_flag=True, help="A machine with no accelerator is fine (one with a broken one is not).")
@click.option("--no-smoke", is_flag=True, help="Look at TensorFlow, but train nothing.")
@click.option("--strict", is_flag=True, help="Warnings fail too.")
@click.option(
    "--timeout", type=Seconds(), default=120.0, show_default=True, help="Limit of the whole run, report included."
)
@click.option("--python", type=Interpreter(), metavar="PATH", help="Examine this interpreter's environment.")
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="NAME",
    type=click.Choice([name.rpartition(".")[2] for name in modules("gpucheck.strategies")]),
    help="Train with this strategy only; may be repeated. One of: "
    + ", ".join(name.rpartition(".")[2] for name in modules("gpucheck.strategies"))
    + ".",
)
@click.option("--format", "style", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True)
@click.option(
    "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report here, whole or not at all."
)
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="NO_COLOR is honoured too."
)
@click.option(
    "-v", "--verbose", is_flag=True, help="Also what was ruled out, what was not looked at and why, and timings."
)
def check(
    level: str | None,
    allow_cpu: bool,
    no_smoke: bool,
    strict: bool,
    timeout: float,
    python: str | None,
    strategies: tuple[str, ...],
    style: str,
    output: str | None,
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
    with _output(output) as file:
        report = _diagnose(request)
        if style == "json":
            from gpucheck.reports import json

            text = json.render(report)
        else:
            text = _terminal(report, color, verbose, to_file=file is not None)
        if file is not None:
            file.commit(text)
        else:
            _print(text, report.exit_code)
    raise SystemExit(report.exit_code)


@cli.command()
@click.argument("code", metavar="CODE", shell_complete=lambda ctx, param, incomplete: _codes(incomplete))
@click.option("--format", "style", type=click.Choice(["terminal", "json"]), default="terminal", show_default=True)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def explain(code: str, style: str, color: str) -> None:
    """Print the manual page of a diagnosis.

    \b
    Example:
      gpucheck explain driver-library-mismatch
    """
    from gpucheck import manual, plugin
    from gpucheck.reports import page

    rules = {rule.code: rule for rule in plugin.load_rules()}
    if code not in rules:
        raise click.UsageError(
            f"no diagnosis has the code {code!r}{_similar(code, rules)}; `gpucheck rules` lists them"
        )
    rule = rules[code]
    parsed = manual.page(code, rule.doc)
    row = plugin.load_rows()[rule.row]
    if style == "json":
        _print(page.render_json(parsed, rule, row))
    else:
        _print(page.render(parsed, rule, row, **_look(color)))


@cli.command()
@click.option(
    "--format", "style", type=click.Choice(["terminal", "json", "markdown"]), default="terminal", show_default=True
)
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
def rules(style: str, color: str) -> None:
    """List the troubleshooting table: row, code, severity, one line."""
    from gpucheck import plugin
    from gpucheck.reports import table

    _print(table.render(plugin.load_rules(), plugin.load_rows(), style, **_look(color)))


@cli.command()
def schema() -> None:
    """Print the JSON Schema of the report."""
    import json

    from gpucheck import schema as published

    _print(json.dumps(published.schema(), indent=2) + "\n")


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the shell's completion script.

    \b
    Example:
      gpucheck completion bash > ~/.local/share/bash-completion/completions/gpucheck
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell!r}")
    _print(kind(cli, {}, "gpucheck", "_GPUCHECK_COMPLETE").source() + "\n")


def main() -> NoReturn:
    """Entry point. Leaves without interpreter teardown: a probe stuck in a dead file system must not hold the exit code."""
    try:
        cli.main(prog_name="gpucheck" if sys.argv[0].endswith("gpucheck") else None)
        code: Any = 0
    except SystemExit as error:
        code = error.code
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else 1 if code else 0)


def _diagnose(request: Request) -> Report:
    from gpucheck.host.local import LocalHost
    from gpucheck.pipeline import diagnose

    def terminate(*_: object) -> None:
        raise SystemExit(143)

    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, terminate)
    with LocalHost(request, started=STARTED if __name__ != "__main__" else None) as host:
        if request.python is not None and "problem" in host.interpreter():
            raise click.UsageError(
                f"{request.python} did not answer as a Python interpreter: {host.interpreter()['problem']}"
            )
        progress = _progress(host)
        try:
            return diagnose(host, STARTED, progress)
        except KeyboardInterrupt:
            raise SystemExit(130) from None
        finally:
            if progress is not None:
                progress.close()  # type: ignore[attr-defined]


def _progress(host: Any) -> Callable[[list[str]], None] | None:
    if not sys.stderr.isatty():
        return None
    from gpucheck.reports.progress import Progress

    progress = Progress()

    def tick(pending: list[str]) -> None:
        progress.update(pending, host.activity())

    tick.close = progress.close  # type: ignore[attr-defined]
    return tick


def _terminal(report: Report, color: str, verbose: bool, to_file: bool) -> str:
    from gpucheck.reports import terminal

    return terminal.render(report, verbose=verbose, **_look("never" if to_file and color == "auto" else color))


def _look(color: str) -> dict[str, Any]:
    """Width, colour and character set for standard output."""
    tty = sys.stdout.isatty()
    wanted = color == "always" or (
        color == "auto" and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and tty
    )
    columns = shutil.get_terminal_size((80, 24)).columns if tty or os.environ.get("COLUMNS") else 80
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return {"width": max(40, min(columns, 120)), "color": wanted, "ascii": not encoding.startswith("utf")}


def _print(text: str, exit_code: int = 0) -> None:
    try:
        write(text)
    except BrokenPipeError:
        click.echo("gpucheck: standard output was closed before the report was written", err=True)
        raise SystemExit(exit_code) from None


@contextlib.contextmanager
def _output(path: str | None) -> Any:
    """The output file, opened before the run: an unwritable place is known at once, a half-written file never seen."""
    if path in (None, "-"):
        yield None
        return
    try:
        file = OutputFile(path)
    except OSError as error:
        raise click.UsageError(f"cannot write {path}: {error.strerror or error}") from None
    try:
        yield file
    except OSError as error:
        if not file.failed:
            raise
        click.echo(f"gpucheck: cannot write {path}: {error.strerror or error}", err=True)
        raise SystemExit(ExitCode.UNKNOWN) from None
    finally:
        file.discard()


def _codes(incomplete: str) -> list[str]:
    from gpucheck.plugin import load_rules

    return [rule.code for rule in load_rules() if rule.code.startswith(incomplete)]


def _similar(code: str, known: Any) -> str:
    import difflib

    close = difflib.get_close_matches(code, list(known), 3)
    return f" (did you mean {' or '.join(close)}?)" if close else ""
