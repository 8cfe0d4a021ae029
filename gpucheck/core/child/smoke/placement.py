"""Find the devices that ran the work, from TensorFlow's record of executed graphs, as ``tf.summary.trace_on`` uses it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Tuple  # noqa: UP035 - Python 3.8

from gpucheck.core.child.messages.training import TrainingRun

Placed = Tuple[str, str]  # noqa: UP006 - Python 3.8; an op, and the device that it ran on
HEAVY = re.compile(r"Conv2D|MatMul")  # the ops that must run on the device, including fused and vendor variants


def record() -> None:
    """Start collecting the graphs executed in this process."""
    try:
        from tensorflow.python.eager import context

        context.enable_graph_collection()
    except Exception:  # not a public interface: without it, placement is unknown, not wrong
        return


def recorded() -> set[Placed] | None:
    """Stop collecting; return (op, device) of every heavy node that ran, or None if unavailable."""
    try:
        from tensorflow.python.eager import context

        metadata = context.export_run_metadata()
        context.disable_graph_collection()
    except Exception:
        return None
    nodes = (node for graph in metadata.partition_graphs for node in graph.node)
    return {(node.op, ":".join(node.device.split(":")[-2:])) for node in nodes if HEAVY.search(node.op)}


def note(result: TrainingRun, placed: set[Placed] | None, devices: Iterable[str]) -> None:
    """Record in a result whether its work ran only on its devices, and on all of them; ``devices`` are names such as "GPU:0"."""
    if not placed:
        return
    wanted = set(devices)
    misplaced = sorted(f"{op.lstrip('_')} on {device}" for op, device in placed if device not in wanted)
    result.placement_verified = not misplaced and {device for _, device in placed} == wanted
    result.misplaced_ops = tuple(misplaced[:20])


def ops_of_device(placed: set[Placed] | None, device: str, others: Iterable[str]) -> set[Placed] | None:
    """The ops of one of several concurrent jobs: those on its device, and misplaced ones that are missing there.

    All jobs run the same ops, so an op that ran on a foreign device belongs to the jobs whose own device did not run it.
    """
    if not placed:
        return None
    own = {(op, where) for op, where in placed if where == device}
    lacking = {op for op, _ in placed} - {op for op, _ in own}
    devices = {device, *others}
    return own | {(op, where) for op, where in placed if where not in devices and op in lacking}
