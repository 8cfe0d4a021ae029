"""The commands of ``fleet``: many nodes at once."""

import contextlib
import importlib
import json
import time
from collections.abc import Iterator
from typing import Any

import click

from gpucheck.cli import watchdog
from gpucheck.cli.formats import format_of
from gpucheck.cli.parameters import READ_SECONDS, SECONDS, Command, FilePath
from gpucheck.cli.request import typed
from gpucheck.cli.screen import look, output, progress_text, show
from gpucheck.fleet.model import Fleet

FORMATS = ("terminal", "json", "html", "junit", "prometheus", "csv")
PROGRESS_SECONDS = 0.2
EXAMPLES = """\b
Examples:
  gpucheck fleet merge reports/
  gpucheck fleet merge reports/ --nodes "gpu[001-128]" --output fleet.html
  gpucheck fleet merge monday/*.json --format csv > nodes.csv
"""


class Group(Command, click.Group):
    """A group of commands whose help is printed like everything else."""


@click.group(cls=Group)
def fleet() -> None:
    """Look at many nodes at once: fold their reports by root cause, configuration and speed."""


class HostList(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """Names of nodes in Slurm's notation."""

    name = "hostlist"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Write it out."""
        if isinstance(value, tuple):
            return value
        from gpucheck.cluster.slurm import expand

        try:
            return tuple(dict.fromkeys(name for name in expand(str(value)) if name))
        except ValueError as error:
            self.fail(str(error), param, ctx)


@fleet.command(cls=Command, epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, type=FilePath())
@click.option(
    "--nodes",
    type=HostList(),
    metavar="HOSTLIST",
    help='The nodes that should have a report: "gpu[001-128],login1". Others are named.',
)
@click.option(
    "--format",
    "style",
    type=click.Choice(FORMATS),
    default="terminal",
    show_default="as --output's name ends (.json, .html, .xml, .prom, .csv), else terminal",
)
@click.option("--output", "target", type=FilePath(dir_okay=False), metavar="FILE", help="Write it here, whole or not at all.")
@click.option("--timeout", type=SECONDS, default=READ_SECONDS, show_default=True, help="Limit of the whole command.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="NO_COLOR is honoured too.")
@click.pass_obj
def merge(
    started: float,
    paths: tuple[str, ...],
    nodes: tuple[str, ...] | None,
    style: str,
    target: str | None,
    timeout: float,
    color: str,
) -> None:
    """Fold JSON reports of nodes into one: files, and folders of *.json, from whatever ran `gpucheck --format json` on each node.

    Every root cause stands once, with its nodes; so do versions that are odd among nodes with the same GPUs, nodes that are slow
    among them, and files that are half-written, foreign, duplicate or from the future. A report says itself which node it is
    about; an older one is named like its file. Exit codes: 0 every node is healthy; 1 one has a fault; 2 wrong usage; 3 no
    node has a fault, and something could not be looked at.
    """
    watchdog.end_at(started + timeout)
    if not typed("style"):
        style = "csv" if (target or "").endswith(".csv") else _known(format_of(target)) or style
    with output(target, started + timeout) as file:
        merged = _merged(paths, nodes, started)
        text = rendered(merged, style, color, to_file=file is not None)
        if file is not None:
            file.commit(text)
        else:
            show(text, merged.exit_code)
    raise SystemExit(merged.exit_code)


@fleet.command(cls=Command)
def schema() -> None:
    """Print the JSON Schema of a merged fleet."""
    from gpucheck.fleet.schema import schema as published

    show(json.dumps(published(), indent=2) + "\n")


def _known(style: str | None) -> str | None:
    return style if style in FORMATS else None


def rendered(merged: Fleet, style: str, color: str, *, to_file: bool) -> str:
    """The fleet in a format."""
    module = importlib.import_module(f"gpucheck.fleet.formats.{style}")
    if style != "terminal":
        return str(module.render(merged))
    return str(module.render(merged, **look("never" if to_file and color == "auto" else color)))


def _merged(paths: tuple[str, ...], nodes: tuple[str, ...] | None, started: float) -> Fleet:
    from gpucheck.fleet.collect import collect, files
    from gpucheck.fleet.merge import Merge

    merging = Merge()
    try:
        with _progress() as told:
            for count, report in enumerate(collect(files(paths), time.time()), 1):
                merging.add(report)
                told(count)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror or error}") from None
    return merging.fleet(time.monotonic() - started, nodes)


@contextlib.contextmanager
def _progress() -> Iterator[Any]:
    with progress_text() as line:
        last = [time.monotonic()]

        def told(count: int) -> None:
            now = time.monotonic()
            if line is not None and now - last[0] > PROGRESS_SECONDS:
                last[0] = now
                line(f"{count:,} reports")

        yield told
