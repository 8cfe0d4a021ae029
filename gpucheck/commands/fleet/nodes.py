"""``fleet run`` and ``fleet train``: list the engine's nodes, check each, merge the reports."""

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator

import click
import msgspec

from gpucheck.cli.screen import progress_text, say
from gpucheck.cli.signals import interruptible
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.fleet.decoded import NodeReport
from gpucheck.commands.fleet.engines import EngineTimeout, Ray, Slurm, Task, Unusable, most_seconds
from gpucheck.commands.fleet.joint_training import configurations, with_training
from gpucheck.commands.fleet.merge import Merge
from gpucheck.commands.fleet.model import Fleet
from gpucheck.commands.fleet.read import read
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import ExitCode, Request
from gpucheck.core.system import ulimits
from gpucheck.core.system.read import REPORT_BYTES_MAX, regular

LONGEST_SECONDS = 86_400.0
FILES_PER_NODE = 4  # of the program that waits for a node; all nodes of a training are waited for at once
UNKNOWN_NODE = "not a node of the engine"
NOT_WAITED = "interrupted by Ctrl-C"


def check_all(task: Task, limit: TimeLimit, *, strict: bool) -> Fleet:
    """Check all nodes.

    Args:
        task: what to run, and on which nodes.
        limit: the command's time limit.
        strict: whether warnings and differences between nodes also fail.

    Raises:
        click.UsageError: the engine is not available, or the folder can't be used.
        SystemExit: the engine did not respond.
    """
    limit.set(LONGEST_SECONDS)
    with _reports(task.folder) as place, LocalHost(Request(timeout_seconds=LONGEST_SECONDS)) as host:
        engine = Ray(host, place, task) if task.engine == "ray" else Slurm(host, place, task)
        try:
            known = engine.nodes()
        except EngineTimeout as error:
            say(f"gpucheck: {error}")
            raise SystemExit(ExitCode.UNKNOWN) from None
        except Unusable as error:
            raise click.UsageError(str(error)) from None
        selected = list(known) if task.nodes is None else list(task.nodes)
        problems = {name: known[name].problem if name in known else UNKNOWN_NODE for name in selected}
        unreached = {name: why for name, why in problems.items() if why is not None}
        unreached.update({name: "not valid as a file name" for name in selected if "/" in name or name.startswith(".")})
        names = [name for name in selected if name not in unreached]
        limit.set_end(time.monotonic() + most_seconds(task, len(names)))
        ulimits.raise_open_files(ulimits.REQUESTED + FILES_PER_NODE * len(names))
        if task.port is not None and len(names) == 1:
            unreached[names.pop()] = "training together requires two nodes, and no other node is usable"
        places, variables = _configured({name: known[name].address for name in names}, task.port)
        merging = Merge(strict=strict)
        with interruptible():
            try:
                _check(engine, variables, merging, unreached, place)
            except KeyboardInterrupt:
                say("gpucheck: merging the reports so far")
                host.close()
                for name in names:  # including reports that arrived in the meantime
                    if name not in merging.names and os.path.exists(os.path.join(place, f"{name}.json")):
                        _take(name, None, merging, unreached, place)
        done = {*merging.names, *unreached}
        unreached.update({name: NOT_WAITED for name in names if name not in done})
        fleet = merging.fleet(time.monotonic() - limit.started, None, unreached)
        if task.port is None:
            return fleet
        reports = {}
        for name in merging.names:
            with contextlib.suppress(OSError):  # a report that was removed since is missing
                reports[name] = regular(os.path.join(place, f"{name}.json"), REPORT_BYTES_MAX)
        return with_training(fleet, places, reports, unreached)


def _configured(addresses: dict[str, str], port: int | None) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the address of each worker if all train together, and each node's additional environment variables."""
    if port is None:
        return {}, {name: {} for name in addresses}
    places, configured = configurations(addresses, port)
    return places, {name: {"TF_CONFIG": text} for name, text in configured.items()}


def _check(
    engine: Ray | Slurm, selected: dict[str, dict[str, str]], merging: Merge, unreached: dict[str, str], place: str
) -> None:
    with progress_text() as line:
        for count, (name, problem) in enumerate(engine.check(selected), 1):
            _take(name, problem, merging, unreached, place)
            if line is not None:
                line(f"{count:,} of {len(selected):,} nodes, {len(unreached):,} without a report")


def _take(name: str, problem: str | None, merging: Merge, unreached: dict[str, str], place: str) -> None:
    """Record a node's report, or why it is missing."""
    report = read(os.path.join(place, f"{name}.json"), time.time()) if problem is None else None
    if isinstance(report, NodeReport):
        merging.add(msgspec.structs.replace(report, node=name))
    else:
        unreached[name] = problem or "" if report is None else f"its report is {report.kind}: {report.why}"


@contextlib.contextmanager
def _reports(folder: str | None) -> Iterator[str]:
    """Yield the folder for the reports; it must be empty, so that reports of several checks are not mixed."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="gpucheck-fleet-", ignore_cleanup_errors=True) as place:
            yield place
        return
    try:
        os.makedirs(folder, exist_ok=True)
        if os.listdir(folder):
            raise click.UsageError(f"{folder} is not empty")
    except OSError as error:
        raise click.UsageError(f"cannot write into {folder}: {error.strerror}") from None
    yield folder
