"""What ``fleet run`` does: ask an engine for its nodes, look at each, fold what comes."""

import contextlib
import math
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import click
import msgspec

from gpucheck.cli.screen import progress_text, say
from gpucheck.cli.signals import interruptible
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.fleet.engines import AT_A_TIME, CONNECT_SECONDS, GRACE_SECONDS, Engine, NoAnswer, Ray, Slurm, Unusable
from gpucheck.commands.fleet.merge import Merge
from gpucheck.commands.fleet.model import Fleet
from gpucheck.commands.fleet.read import Seen, read
from gpucheck.commands.fleet.together import configurations, with_training
from gpucheck.core.host import Host
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import ExitCode, Request

LONGEST_SECONDS = 86_400.0
MOST_TOGETHER = 4096  # nodes that Slurm is asked for at the same time, since they wait for each other
NOT_KNOWN = "the engine knows no such node"
NOT_WAITED = "not waited for: Ctrl-C"


class Asked(NamedTuple):
    """What the user asked for."""

    engine: str
    address: str
    nodes: tuple[str, ...] | None  # None: all
    limit: float  # seconds for each node
    arguments: tuple[str, ...]  # of gpucheck
    options: tuple[str, ...]  # of the engine
    port: int | None = None  # all train together, each listening there; None: each is looked at by itself


def look_at_all(asked: Asked, folder: str | None, limit: TimeLimit) -> Fleet:
    """Look at every node.

    Args:
        asked: how, and at which.
        folder: where reports are kept; None: nowhere.
        limit: the command's.

    Raises:
        click.UsageError: there is no such engine, or the folder can't be used.
        SystemExit: the engine does not answer.
    """
    limit.set(LONGEST_SECONDS)
    with _reports(folder) as place, LocalHost(Request(timeout_seconds=LONGEST_SECONDS)) as host:
        engine = _engine(asked, host, place)
        try:
            known = engine.nodes()
        except NoAnswer as error:
            say(f"gpucheck: {error}")
            raise SystemExit(ExitCode.UNKNOWN) from None
        except Unusable as error:
            raise click.UsageError(str(error)) from None
        wanted = list(known) if asked.nodes is None else list(asked.nodes)
        problems = {name: known[name].problem if name in known else NOT_KNOWN for name in wanted}
        unreached = {name: why for name, why in problems.items() if why is not None}
        unreached.update({name: "no name of a file" for name in wanted if "/" in name or name.startswith(".")})
        names = [name for name in wanted if name not in unreached]
        # Slurm is asked for so many nodes at a time.
        turns = math.ceil(len(names) / AT_A_TIME) if asked.engine == "slurm" and asked.port is None else 1
        limit.set_end(time.monotonic() + CONNECT_SECONDS + max(1, turns) * 2 * (asked.limit + 2 * GRACE_SECONDS))
        if asked.port is not None and len(names) == 1:
            unreached[names.pop()] = "it takes two nodes to train together, and no other can be used"
        places, variables = _configured({name: known[name].address for name in names}, asked.port)
        merging = Merge()
        with interruptible():
            try:
                _look(engine, variables, merging, unreached, place)
            except KeyboardInterrupt:
                say("gpucheck: folding what has come")
                host.close()
                for name in names:  # also what came in that very moment
                    if name not in merging.names and os.path.exists(os.path.join(place, f"{name}.json")):
                        _take(name, None, merging, unreached, place)
        done = {*merging.names, *unreached}
        unreached.update({name: NOT_WAITED for name in names if name not in done})
        fleet = merging.fleet(time.monotonic() - limit.started, None, unreached)
        return fleet if asked.port is None else with_training(fleet, places, _texts(place, merging.names), unreached)


def _configured(addresses: dict[str, str], port: int | None) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Where each worker listens, if all train together, and each node's further variables."""
    if port is None:
        return {}, {name: {} for name in addresses}
    places, configured = configurations(addresses, port)
    return places, {name: {"TF_CONFIG": text} for name, text in configured.items()}


def _texts(place: str, names: Iterable[str]) -> dict[str, bytes]:
    """The nodes' reports, which have been read once."""
    texts = {}
    for name in names:
        with open(os.path.join(place, f"{name}.json"), "rb") as file:
            texts[name] = file.read()
    return texts


def _look(engine: Engine, wanted: dict[str, dict[str, str]], merging: Merge, unreached: dict[str, str], place: str) -> None:
    with progress_text() as line:
        for count, (name, problem) in enumerate(engine.look(wanted), 1):
            _take(name, problem, merging, unreached, place)
            if line is not None:
                line(f"{count:,} of {len(wanted):,} nodes, {len(unreached):,} without an answer")


def _take(name: str, problem: str | None, merging: Merge, unreached: dict[str, str], place: str) -> None:
    """A node's report, or why there is none."""
    report = read(os.path.join(place, f"{name}.json"), time.time()) if problem is None else None
    if isinstance(report, Seen):
        merging.add(msgspec.structs.replace(report, node=name))
    else:
        unreached[name] = problem or "" if report is None else f"its report is {report.kind}: {report.why}"


def _engine(asked: Asked, host: Host, place: str) -> Engine:
    if asked.engine == "ray":
        return Ray(host, place, list(asked.arguments), asked.limit, asked.address)
    at_a_time = AT_A_TIME if asked.port is None else MOST_TOGETHER
    return Slurm(host, place, list(asked.arguments), asked.limit, asked.options, at_a_time)


@contextlib.contextmanager
def _reports(folder: str | None) -> Iterator[str]:
    """The folder of the reports; one of several checks would mix them."""
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
