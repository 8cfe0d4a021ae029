"""``gpucheck lint``: find mistakes in training scripts without running them."""

import os
import sys
import time
from collections.abc import Callable, Iterable

import click

from gpucheck.cli.parameters import COLOR, READ_SECONDS, SECONDS, Command, FilePath
from gpucheck.cli.screen import display_options, say, show, standard_input
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.model.progress import Progress

POLL_SECONDS = 0.5
CPU_SHARE_MAX = 0.1  # share of one processor for the search of a large folder
CLEAR = "\x1b[2J\x1b[3J\x1b[H"  # clears the screen and the scrollback buffer (ECMA-48 ED, CUP)
STYLES = ("terminal", "json", "github", "sarif", "junit")


@click.command(cls=Command)
@click.argument("paths", metavar="[TRAIN.py...]", nargs=-1, type=FilePath())
@click.option("--format", "style", type=click.Choice(STYLES), default="terminal", show_default=True)
@click.option("--fix", is_flag=True, help="Fix what can be fixed safely (in Python files; see above).")
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes, until Ctrl-C.")
@COLOR
@click.option(
    "--timeout", type=SECONDS, default=READ_SECONDS, show_default=True, help="Time limit; the results so far are shown."
)
@click.pass_obj
def lint(limit: TimeLimit, /, paths: tuple[str, ...], style: str, fix: bool, watch: bool, color: str, timeout: float) -> None:
    """Find mistakes that keep training scripts from using GPUs and TPUs well. Scripts are read, never executed.

    Reads Python files (.py), notebooks (.ipynb), folders of both, and - for standard input. The default is the current folder.
    In folders, files that .gitignore lists are skipped. If it is unclear whether something is a mistake, it is not reported. To
    suppress findings on a line, add the comment "# gpucheck: ignore[CODE]". Exit codes: 0 no findings, 1 findings, 2 a file or a
    notebook cell can't be read.

    \b
    --fix fixes findings of these rules, if the fix is safe:
      fit-generator-removed, functions-run-eagerly, import-missing,
      legacy-api (nb_epoch), no-prefetch, optimizer-argument-removed,
      placement-logged, serial-map, tpu-partial-batches

    \b
    Examples:
      gpucheck lint
      gpucheck lint train.py
      gpucheck lint train.py --fix
      gpucheck lint --watch
      gpucheck lint . --format github
      gpucheck lint --format sarif > lint.sarif
      gpucheck explain memory-growth-set-late
    """
    from gpucheck.commands.lint import reports, runner
    from gpucheck.commands.lint.pages import load_rules

    limit.set(timeout)
    limit.exit_code = 2  # same as for unreadable files
    paths = paths or (os.curdir,)
    for path in paths:
        standard_input(path)
    if watch and (style != "terminal" or "-" in paths):
        raise click.UsageError("--watch needs files or folders, and --format terminal")
    appearance = display_options(color)
    if sys.stdout is None or not sys.stdout.isatty():
        appearance["width"] = None

    def write(result: runner.Result) -> None:
        show(reports.render(result, style, **appearance), result.exit_code, commands=style == "github")

    progress, rules = Progress[runner.Result](), load_rules()
    limit.write_partial(progress, lambda partial: [lambda: write(partial)])

    def remaining() -> float:
        return limit.reading_end - time.monotonic()

    def run() -> runner.Result:
        result = runner.lint(paths, rules, remaining, progress, lambda line: say(f"gpucheck: {line}"), fix=fix)
        write(result)
        return result

    if watch:
        _watch(paths, limit, timeout, lambda: run().fixed > 0)
    raise SystemExit(run().exit_code)


def _watch(paths: Iterable[str], limit: TimeLimit, seconds: float, lint: Callable[[], bool]) -> None:
    """Call ``lint`` now and after each change, until a signal ends the command.

    Args:
        paths: files and folders.
        limit: the command's time limit.
        seconds: time limit of each search and lint run; waiting for a change has no limit.
        lint: the function that lints and prints; returns whether it changed a file.
    """
    before = None
    while True:
        limit.restart(seconds)
        started = time.monotonic()
        now = _state(paths)
        elapsed = time.monotonic() - started
        if now != before:
            if sys.stdout is not None and sys.stdout.isatty():
                show(CLEAR)
            before = _state(paths) if lint() else now  # ignore the corrections by --fix
            say("gpucheck: waiting for a file to change; press Ctrl-C to stop")
        limit.set_end(float("inf"))
        time.sleep(max(POLL_SECONDS, elapsed / CPU_SHARE_MAX))


def _state(paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    from gpucheck.commands.lint import search

    return {file: _version(file) for file in search.files(paths)}


def _version(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:  # the file was removed, or is being replaced
        return None
    return status.st_mtime_ns, status.st_size
