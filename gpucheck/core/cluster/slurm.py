"""The cluster of a Slurm job step, by the rules of TensorFlow's SlurmClusterResolver that need no GPU.

One worker per task of the step, nodes sorted by name, ports counted up from 8888 on each node; a node's GPUs are divided evenly
among its tasks. Sources: cluster_resolver/slurm_cluster_resolver.py of the TensorFlow 2.21.0 wheel; srun(1) for the variables.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

FIRST_PORT = 8888
MOST = 1 << 16  # maximum nodes of a list, and tasks of a step: a variable can contain any number
DIGITS = 20  # of a node's number
NEEDED = ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE")


class Step(NamedTuple):
    """A job step as a cluster of workers."""

    addresses: tuple[str, ...]  # "node:port", one per worker
    number: int  # index of this process, from 0
    place: int  # index of this worker on its node, from 0
    places: int  # workers of the node with the most
    bound: bool  # Slurm itself bound GPUs to each task


class Unusable(Exception):
    """A step's variables don't describe a usable cluster; the message gives the reason."""


def step(env: Mapping[str, str]) -> Step | None:
    """Return the step of this process from srun's variables; None if it is not in one.

    Raises:
        Unusable: they contradict each other, or TensorFlow's rules.
    """
    if not all(env.get(name) for name in NEEDED):
        return None
    try:
        tasks = list(counts(env["SLURM_STEP_TASKS_PER_NODE"]))
        hosts = dict(zip(expand(env["SLURM_STEP_NODELIST"]), tasks, strict=True))
        index, count = int(env["SLURM_PROCID"]), int(env["SLURM_STEP_NUM_TASKS"])
    except ValueError as error:
        raise Unusable(f"the variables of its step can't be read ({error})") from error
    places = [(host, place) for host, tasks in sorted(hosts.items()) for place in range(tasks)]
    if len(places) != count or index >= count:
        raise Unusable(f"its variables contradict each other: {count} tasks, {len(places)} tasks on its nodes, task {index}")
    host, place = places[index]
    if env.get("SLURMD_NODENAME", host) != host:
        raise Unusable(
            f"its nodes are not in alphabetical order, as TensorFlow's resolver expects: worker {index} would get another"
            " node's address; set TF_CONFIG instead"
        )
    return Step(
        addresses=tuple(f"{host}:{FIRST_PORT + place}" for host, place in places),
        number=index,
        place=place,
        places=max(hosts.values()),
        bound="SLURM_GPUS_PER_TASK" in env,
    )


def expand(nodes: str) -> Iterator[str]:
    """Yield the names in a node list: "n[1-2,08],m5" gives n1, n2, n08, m5. A name may have several ranges.

    Raises:
        ValueError: it is not a node list, or one of more than ``MOST`` nodes, which is checked before it is expanded.
    """
    # one character at a time: a pattern with several ways to split a run would backtrack exponentially
    if not re.fullmatch(r"(?:[^\[\],]|\[[\d,-]+\]|,)+", nodes):
        raise ValueError(f"not a node list: {nodes[:100]!r}")
    whole = 0
    for part in re.findall(r"(?:[^\[\],]+|\[[^\]]*\])+", nodes):
        pieces = [(plain, _spans(ranges)) for plain, ranges in re.findall(r"([^\[\]]+)|\[([^\]]*)\]", part)]
        # not len(), which raises OverflowError for more than sys.maxsize
        whole += math.prod(sum(max(0, span.stop - span.start) for span, _ in spans) for plain, spans in pieces if not plain)
        if whole > MOST:
            raise ValueError(f"more than {MOST:,} nodes: {nodes[:100]!r}")
        names = [""]
        for plain, spans in pieces:
            numbers = [str(number).zfill(width) for span, width in spans for number in span]
            names = [name + piece for name in names for piece in ([plain] if plain else numbers)]
        yield from names


def _spans(ranges: str) -> list[tuple[range, int]]:
    """Return the numbers of each range, and their minimum number of digits; empty for plain text."""
    spans = []
    for part in ranges.split(",") if ranges else ():
        first, dash, last = part.partition("-")
        if max(len(first), len(last)) > DIGITS:
            raise ValueError(f"not a node number: {part[:100]!r}")
        spans.append((range(int(first), int(last if dash else first) + 1), len(first)))
    return spans


def counts(tasks: str) -> Iterator[int]:
    """Yield the number of tasks on each node: "3(x2),1" gives 3, 3, 1.

    Raises:
        ValueError: it is not a list of counts, or has more than ``MOST`` nodes or tasks.
    """
    nodes = whole = 0
    for part in tasks.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if match is None:
            raise ValueError(f"not a list of counts: {tasks[:100]!r}")
        each, times = int(match[1]), int(match[2] or 1)
        nodes, whole = nodes + times, whole + each * times
        if max(nodes, whole) > MOST:
            raise ValueError(f"more than {MOST:,} tasks: {tasks[:100]!r}")
        yield from [each] * times
