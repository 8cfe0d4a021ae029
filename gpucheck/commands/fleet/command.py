"""The commands of ``fleet``: many nodes at once."""

import contextlib
import importlib
import json
import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import click

from gpucheck.cli.formats import format_of
from gpucheck.cli.parameters import READ_SECONDS, SECONDS, Command, FilePath
from gpucheck.cli.request import typed
from gpucheck.cli.screen import look, output, progress_text, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.fleet.model import Fleet
from gpucheck.commands.fleet.options import FORMATS, HostList, engine_options, output_options
from gpucheck.core.cluster.slurm import FIRST_PORT

PROGRESS_SECONDS = 0.2
LEVELS = {  # seconds for a node, and gpucheck's arguments
    "node": (30.0, ("node",)),
    "quick": (120.0, ("--quick",)),
    "default": (180.0, ()),
    "full": (400.0, ("--full",)),
}
TRAIN_SECONDS = 180.0  # a node's time to import TensorFlow, train alone, meet the others and train with them
TRAIN_RESERVE = 10.0  # of it, in which a node writes its report
RUN_EXAMPLES = """\b
Examples:
  gpucheck fleet run --engine slurm
  gpucheck fleet run --engine slurm --nodes "gpu[001-128]" --engine-option=--partition=gpu --reports monday/
  gpucheck fleet run --engine ray --level default -- --allow-cpu
"""
TRAIN_EXAMPLES = """\b
Examples:
  gpucheck fleet train --engine slurm --engine-option=--gres=gpu:8
  gpucheck fleet train --engine slurm --nodes "gpu[001-016]" --output training.json
  gpucheck fleet train --engine ray --node-limit 300 -- --allow-cpu
"""
EXAMPLES = """\b
Examples:
  gpucheck fleet merge reports/
  gpucheck fleet merge reports/ --nodes "gpu[001-128]" --output fleet.html
  gpucheck fleet merge monday/*.json --format csv > nodes.csv
"""


class Group(Command, click.Group):
    """A group of commands whose help is printed like everything else."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands first."""
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)


@click.group(cls=Group)
def fleet() -> None:
    """Look at many nodes at once: fold their reports by root cause, configuration and speed."""


@fleet.command(cls=Command, epilog=EXAMPLES)
@click.argument("paths", nargs=-1, required=True, type=FilePath())
@click.option(
    "--nodes",
    type=HostList(),
    metavar="HOSTLIST",
    help='The nodes that should have a report: "gpu[001-128],login1". Others are named.',
)
@output_options
@click.option("--timeout", type=SECONDS, default=READ_SECONDS, show_default=True, help="Limit of the whole command.")
@click.pass_obj
def merge(
    limit: TimeLimit,
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
    limit.set(timeout)
    _print(lambda: _merged(paths, nodes, limit), _style(style, target), target, color, limit.end)


@fleet.command(cls=Command, epilog=RUN_EXAMPLES)
@click.argument("check", nargs=-1, type=click.UNPROCESSED, metavar="[-- CHECK OPTIONS...]")
@engine_options
@click.option(
    "--level",
    type=click.Choice(list(LEVELS)),
    default="node",
    show_default=True,
    help="`gpucheck node`, or how deep `gpucheck` looks.",
)
@click.option(
    "--node-limit",
    "limit",
    type=SECONDS,
    help="For each node, after which it is not waited for.  [default: 30, 120, 180 or 400, by level]",
)
@output_options
@click.pass_obj
def run(
    whole: TimeLimit,
    check: tuple[str, ...],
    engine: str,
    address: str,
    nodes: tuple[str, ...] | None,
    level: str,
    limit: float | None,
    folder: str | None,
    options: tuple[str, ...],
    style: str,
    target: str | None,
    color: str,
) -> None:
    """Run a check on every node of a Slurm or Ray cluster, and fold the reports as `fleet merge` does.

    Every node runs the gpucheck that is installed there. Nodes that are down, drained, busy or silent are named with the reason,
    and none is waited for beyond its limit. Ctrl-C folds what has come. Exit codes as of `fleet merge`; 2 where there is no such
    engine, 3 where it does not answer.
    """
    from gpucheck.commands.fleet.nodes import Asked, look_at_all

    seconds, arguments = LEVELS[level]
    asked = Asked(engine, address, nodes, limit or seconds, (*arguments, *check, "--format", "json"), options)
    _print(lambda: look_at_all(asked, folder, whole), _style(style, target), target, color, math.inf)


@fleet.command(cls=Command, epilog=TRAIN_EXAMPLES)
@click.argument("check", nargs=-1, type=click.UNPROCESSED, metavar="[-- CHECK OPTIONS...]")
@engine_options
@click.option(
    "--node-limit",
    "limit",
    type=SECONDS,
    default=TRAIN_SECONDS,
    show_default=True,
    help="For each node, in which all must have come and trained.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=FIRST_PORT,
    show_default=True,
    help="On which each worker listens; of several nodes with one address, each takes the next one.",
)
@output_options
@click.pass_obj
def train(
    whole: TimeLimit,
    check: tuple[str, ...],
    engine: str,
    address: str,
    nodes: tuple[str, ...] | None,
    limit: float,
    folder: str | None,
    options: tuple[str, ...],
    port: int,
    style: str,
    target: str | None,
    color: str,
) -> None:
    """Train on all nodes of a Slurm or Ray cluster together, one worker on each, by MultiWorkerMirroredStrategy.

    Proves that the workers find each other, run the same versions, are each fed data of their own and end with the same weights.
    Every node also trains alone, and pairs of workers sum together, so that a slow one is named. Who never comes, fails, or is
    lost in the middle is named with its node. Exit codes as of `fleet merge`; 3 where it was not tried.
    """
    from gpucheck.commands.fleet.nodes import Asked, look_at_all

    strategies = ("--strategy", "one_device", "--strategy", "multi_worker_mirrored")
    arguments = (*strategies, *check, "--timeout", f"{max(limit / 2, limit - TRAIN_RESERVE):g}", "--format", "json")
    asked = Asked(engine, address, nodes, limit, arguments, options, port)
    _print(lambda: look_at_all(asked, folder, whole), _style(style, target), target, color, math.inf)


@fleet.command(cls=Command)
def schema() -> None:
    """Print the JSON Schema of a merged fleet."""
    from gpucheck.commands.fleet.formats import json as published

    show(json.dumps(published.schema(), indent=2) + "\n")


def _style(style: str, target: str | None) -> str:
    if typed("style"):
        return style
    named = "csv" if (target or "").endswith(".csv") else format_of(target)
    return named if named in FORMATS else style


def _print(make: Callable[[], Fleet], style: str, target: str | None, color: str, until: float) -> NoReturn:
    """Make the fleet, write it, and leave with its exit code."""
    with output(target, until) as file:
        merged = make()
        text = rendered(merged, style, color, to_file=file is not None)
        if file is not None:
            file.commit(text)
        else:
            show(text, merged.exit_code)
    raise SystemExit(merged.exit_code)


def rendered(merged: Fleet, style: str, color: str, *, to_file: bool) -> str:
    """The fleet in a format."""
    module = importlib.import_module(f"gpucheck.commands.fleet.formats.{style}")
    if style != "terminal":
        return str(module.render(merged))
    return str(module.render(merged, **look("never" if to_file and color == "auto" else color)))


def _merged(paths: tuple[str, ...], nodes: tuple[str, ...] | None, limit: TimeLimit) -> Fleet:
    from gpucheck.commands.fleet.collect import collect, files
    from gpucheck.commands.fleet.merge import Merge

    merging = Merge()
    try:
        with _progress() as told:
            for count, report in enumerate(collect(files(paths, limit.reading_end), time.time(), until=limit.reading_end), 1):
                merging.add(report)
                told(count)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror or error}") from None
    return merging.fleet(time.monotonic() - limit.started, nodes)


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
