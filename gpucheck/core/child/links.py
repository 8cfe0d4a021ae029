"""Measure the all-reduce time of each pair of workers over the network, one pair after the other.

An all-reduce over all workers is as slow as the slowest one, and does not show which one it is. Pairs do.
Source: tf.raw_ops.CollectiveReduceV2, whose group may be any of the cluster's workers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from gpucheck.core.child.messages.training import WorkerLink

ROUNDS = 8  # partners of each worker at most: the time does not grow with a large cluster
REPEATS = 3  # the fastest counts: other load only slows one down
ELEMENTS = 1 << 20  # float32
WARM_ELEMENTS = 1 << 10  # a pair's first all-reduce connects the two, and waits for the later one
LIMIT_SECONDS = 15.0  # for one sum
FIRST_KEY = 1 << 20  # of groups, beyond those that TensorFlow's own strategies number


def pairs(count: int) -> Iterator[list[tuple[int, int]]]:
    """Rounds of pairs in which each worker has a different partner every round: the circle method of tournaments.

    Args:
        count: workers.
    """
    places = count + count % 2
    for turn in range(min(places - 1, ROUNDS)):
        moving = [1 + (place + turn) % (places - 1) for place in range(places - 1)]
        order = [0, *moving]
        met = [sorted((order[place], order[places - 1 - place])) for place in range(places // 2)]
        yield [(low, high) for low, high in met if high < count]


def measure(tf: Any, names: list[str], own: int, begin: Callable[[str], None]) -> tuple[WorkerLink, ...]:
    """Measure this worker's links; return them in order of measurement.

    Args:
        tf: TensorFlow, with the cluster connected.
        names: of all workers, in the cluster's order.
        own: this worker's index in ``names``.
        begin: called before each pair that includes this worker.
    """
    links = []
    for low, high in (pair for met in pairs(len(names)) for pair in met if own in pair):
        other = high if own == low else low
        begin(f"link to {names[other]}")
        group = FIRST_KEY + low * len(names) + high
        _sum(tf, WARM_ELEMENTS, group, 0)
        seconds = min(_sum(tf, ELEMENTS, group, number) for number in range(1, REPEATS + 1))
        links.append(WorkerLink(workers=(names[low], names[high]), sum_bytes=4 * ELEMENTS, seconds=seconds))
    return tuple(links)


def _sum(tf: Any, elements: int, group: int, number: int) -> float:
    """Seconds of one all-reduce of two, in host memory, so that links of different machines are comparable."""
    with tf.device("CPU:0"):
        value = tf.ones([elements], tf.float32)
        began = time.perf_counter()
        whole = tf.raw_ops.CollectiveReduceV2(
            input=value,
            group_size=2,
            group_key=group,
            instance_key=FIRST_KEY + number,
            ordering_token=[],
            merge_op="Add",
            final_op="Id",
            communication_hint="ring",
            timeout_seconds=LIMIT_SECONDS,
        )
        if float(whole[-1]) != 2.0:
            raise ValueError("the all-reduce returned a wrong sum")
        return time.perf_counter() - began
