"""The subcommands of ``fleet``."""

import importlib
import json
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import click

from gpucheck.cli.formats import format_of
from gpucheck.cli.parameters import READ_SECONDS, SECONDS, Command, FilePath, typed
from gpucheck.cli.screen import display_options, output, progress_text, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.fleet.model import Fleet
from gpucheck.commands.fleet.options import FORMATS, Age, HostList, engine_options, output_options
from gpucheck.core.cluster.slurm import FIRST_PORT

PROGRESS_SECONDS = 0.2
LEVELS = {  # seconds per node, and gpucheck's arguments
    "node": (30.0, ("node",)),
    "quick": (120.0, ("--quick",)),
    "default": (180.0, ()),
    "full": (400.0, ("--full",)),
}
TRAIN_SECONDS = 180.0  # per node, to import TensorFlow, train alone, connect to the others and train with them
TRAIN_RESERVE = 10.0  # part of TRAIN_SECONDS that is reserved for the report
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
  gpucheck fleet merge reports/ --nodes "gpu[001-128]" --max-age 1d --output fleet.html
  gpucheck fleet merge monday/*.json --format csv > nodes.csv
"""


class Group(Command, click.Group):
    """A group of commands whose help is printed like all other output."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands first."""
        self.format_commands(ctx, formatter)
        super().format_options(ctx, formatter)


@click.group(cls=Group)
def fleet() -> None:
    """Check many nodes, train on them together, or merge their reports by root cause, version and speed."""


@fleet.command(cls=Command, epilog=EXAMPLES, short_help="Merge the JSON reports of nodes.")
@click.argument("paths", nargs=-1, required=True, type=FilePath())
@click.option(
    "--nodes",
    type=HostList(),
    metavar="HOSTLIST",
    help='Expected nodes: "gpu[001-128],login1". Those without a report are listed.',
)
@click.option(
    "--max-age",
    type=Age(),
    metavar="AGE",
    help="Treat healthy reports older than this (90m, 12h, 7d) as no verdict.  [default: no limit]",
)
@output_options
@click.option("--timeout", type=SECONDS, default=READ_SECONDS, show_default=True, help="Time limit for the whole command.")
@click.pass_obj
def merge(
    limit: TimeLimit,
    /,
    paths: tuple[str, ...],
    nodes: tuple[str, ...] | None,
    max_age: float | None,
    timeout: float,
    **outputs: Any,
) -> None:
    """Merge the JSON reports of nodes: files, or folders of *.json that `gpucheck --format json` wrote.

    Each root cause is listed once, with its nodes. Among nodes with the same GPUs, slow ones and versions that differ from the
    majority are listed. So are files that are not a valid report, and reports that are duplicate, old or from a wrong clock. The
    node's name is in the report; for older reports it is the file name. Exit codes: 0 all nodes are healthy; 1 a node has a
    fault; 2 wrong usage; 3 no node has a fault, but something could not be checked.
    """
    limit.set(timeout)
    _print(lambda: _merged(paths, nodes, limit, max_age, strict=outputs["strict"]), Output(**outputs), limit.end)


@fleet.command(cls=Command, epilog=RUN_EXAMPLES, short_help="Check every node of a Slurm or Ray cluster, and merge the reports.")
@click.argument("check", nargs=-1, type=click.UNPROCESSED, metavar="[-- CHECK OPTIONS...]")
@engine_options
@click.option(
    "--level",
    type=click.Choice(list(LEVELS)),
    default="node",
    show_default=True,
    help="What to run on each node: `gpucheck node`, or a level of `gpucheck`.",
)
@click.option(
    "--node-limit",
    "limit",
    type=SECONDS,
    help="Time limit for each node.  [default: 30, 120, 180 or 400, by level]",
)
@output_options
@click.pass_obj
def run(whole: TimeLimit, /, check: tuple[str, ...], level: str, limit: float | None, **given: Any) -> None:
    """Run a check on every node of a Slurm or Ray cluster, and merge the reports like `fleet merge`.

    Each node runs the gpucheck that is installed there. Nodes that are down, drained, busy or unresponsive are listed with the
    reason. No node delays the result by more than --node-limit plus 15 s to start and end the check. Ctrl-C merges the reports
    so far. Exit codes are those of `fleet merge`; also 2 if the engine is not available, and 3 if it does not respond.
    """
    seconds, arguments = LEVELS[level]
    _check(whole, given, limit=limit or seconds, arguments=(*arguments, *check))


@fleet.command(cls=Command, epilog=TRAIN_EXAMPLES, short_help="Train on all nodes of a Slurm or Ray cluster together.")
@click.argument("check", nargs=-1, type=click.UNPROCESSED, metavar="[-- CHECK OPTIONS...]")
@engine_options
@click.option(
    "--node-limit",
    "limit",
    type=SECONDS,
    default=TRAIN_SECONDS,
    show_default=True,
    help="Time limit for each node to connect and train.",
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=FIRST_PORT,
    show_default=True,
    help="Port of each worker; nodes that share an address use consecutive ports.",
)
@output_options
@click.pass_obj
def train(whole: TimeLimit, /, check: tuple[str, ...], limit: float, port: int, **given: Any) -> None:
    """Train on all nodes of a Slurm or Ray cluster together: one worker per node, with MultiWorkerMirroredStrategy.

    Verifies that the workers connect, run the same versions, each get their own data and end with the same weights. To find slow
    nodes and links, every node also trains alone, and pairs of workers run an all-reduce. A worker that does not start, fails or
    is lost is reported with its node. Exit codes are those of `fleet merge`; also 3 if nothing was trained.
    """
    strategies = ("--strategy", "one_device", "--strategy", "multi_worker_mirrored")
    arguments = (*strategies, *check, "--timeout", f"{max(limit / 2, limit - TRAIN_RESERVE):g}")
    _check(whole, given, limit=limit, arguments=arguments, port=port)


@fleet.command(cls=Command)
def schema() -> None:
    """Print the JSON Schema of a merged fleet."""
    from gpucheck.commands.fleet.formats import json as published

    show(json.dumps(published.schema(), indent=2) + "\n")


class Output(NamedTuple):
    """The values of ``output_options``."""

    style: str
    target: str | None
    strict: bool
    redacting: bool
    color: str

    @property
    def format(self) -> str:
        """The requested format, or else the one for the file's suffix."""
        if typed("style"):
            return self.style
        named = "csv" if (self.target or "").endswith(".csv") else format_of(self.target)
        return named if named in FORMATS else self.style


def _check(
    whole: TimeLimit, given: dict[str, Any], *, limit: float, arguments: tuple[str, ...], port: int | None = None
) -> NoReturn:
    """Check all nodes with these arguments, and print the merged reports; ``given``: the options that both commands share."""
    from gpucheck.commands.fleet.engines import Task
    from gpucheck.commands.fleet.nodes import check_all

    of_engine = {name: given.pop(name) for name in ("engine", "address", "nodes", "options", "folder")}
    task = Task(**of_engine, limit=limit, arguments=(*arguments, "--format", "json"), port=port)
    _print(lambda: check_all(task, whole, strict=given["strict"]), Output(**given), math.inf)


def _print(make: Callable[[], Fleet], options: Output, until: float) -> NoReturn:
    """Create the fleet, write it, and exit with its exit code."""
    with output(options.target, until) as file:
        merged = make()
        if options.redacting:
            from gpucheck.commands.fleet.names import redacted

            merged = redacted(merged)
        text = rendered(merged, options.format, options.color, to_file=file is not None)
        if file is not None:
            file.commit(text)
        else:
            show(text, merged.exit_code)
    raise SystemExit(merged.exit_code)


def rendered(merged: Fleet, style: str, color: str, *, to_file: bool) -> str:
    """Render the fleet in a format."""
    module = importlib.import_module(f"gpucheck.commands.fleet.formats.{style}")
    if style != "terminal":
        return str(module.render(merged))
    return str(module.render(merged, **display_options("never" if to_file and color == "auto" else color)))


def _merged(
    paths: tuple[str, ...], nodes: tuple[str, ...] | None, limit: TimeLimit, max_age: float | None, *, strict: bool
) -> Fleet:
    from gpucheck.commands.fleet.merge import Merge
    from gpucheck.commands.fleet.read import collect, files

    merging = Merge(max_age, strict=strict)
    try:
        with progress_text() as line:
            shown = time.monotonic()
            for count, report in enumerate(collect(files(paths, limit.reading_end), time.time(), until=limit.reading_end), 1):
                merging.add(report)
                if line is not None and time.monotonic() - shown > PROGRESS_SECONDS:
                    shown = time.monotonic()
                    line(f"{count:,} reports")
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror or error}") from None
    return merging.fleet(time.monotonic() - limit.started, nodes)
