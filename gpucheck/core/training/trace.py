"""Trace some steps with the TensorFlow Profiler, and break down their time: on the device, waiting for input, on the host.

The profiler writes an XSpace message (``*.xplane.pb``) of planes (the host, each GPU), lines (threads, CUDA streams) and events.
At any time of the traced steps a device is in one of three states, which add up to the wall time:

- device: it is busy. For a GPU, any activity on one of its streams; for the CPU, an op, or a function that XLA compiled.
- input: it is idle, and the step waits in ``IteratorGetNext`` for the input pipeline.
- host: it is idle for another reason: Python, dispatch, and other work of the host.

Names of planes, lines and events: https://github.com/openxla/xla/tree/main/xla/tsl/profiler/utils (xplane_schema, tf_op_utils).
"""

from __future__ import annotations

import glob
import importlib
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from gpucheck.core.child.messages.benchmark import Profile, Traced
from gpucheck.core.training.smoke.proof import first_sentence
from gpucheck.core.training.smoke.throughput import Trainer

PROTOCOLS = ("tensorflow.tsl.profiler.protobuf.xplane_pb2", "tensorflow.core.profiler.protobuf.xplane_pb2")  # since 2.12; before
HOST = "/host:CPU"
WINDOW = "gpucheck: traced steps"  # gpucheck's event around all of them, including the wait for the last one
WAITS = re.compile(r"Iterator\w*GetNext\w*(::DoCompute)?|[\w./>-]+:IteratorGetNext\w*")
OP = re.compile(r"[A-Za-z0-9.][\w./\\>-]*:[A-Z_]\w*|CpuExecutable::.*|ThunkExecutor::Execute\b.*")
# Ops that only call others: they span their callees, which may wait for input.
CALLS = re.compile(r".*:(_?(Stateful)?PartitionedCall|RemoteCall|(Stateless)?(While|If|Case)|\w*Iterator\w*)(V\d)?")


class Unreadable(Exception):
    """A trace that can't be evaluated; the message is the reason."""


def trace(tf: Any, trainer: Trainer, source: Any, steps: int, folder: str, devices: tuple[str, ...]) -> Profile:
    """Trace some steps on the input pipeline for TensorBoard, and break down their time. Tracing slows steps down.

    Args:
        tf: TensorFlow.
        trainer: a trainer that is warmed up.
        source: the trainer's iterator.
        steps: number of steps, a multiple of the trainer's steps per execution.
        folder: folder for the trace, to open in TensorBoard; it is created.
        devices: the logical devices that train.
    """
    result = Profile(folder)
    profiler = tf.profiler.experimental
    try:
        profiler.start(folder)  # the first start takes a second
        profiler.stop(save=False)
        trainer.piped(source, steps)  # uses up the batches that the pipeline prefetched in the meantime
        profiler.start(folder)
        try:
            with profiler.Trace(WINDOW):
                trainer.piped(source, steps, lambda number: profiler.Trace("train", step_num=number, _r=1))
        finally:
            profiler.stop()
        result.recorded = True
        result.traced = parts_of_step(read(folder), devices, steps)
    except Unreadable as error:
        result.problem = str(error)
    except Exception as error:
        result.problem = first_sentence(error)
    return result


def read(folder: str) -> Any:
    """Return the newest trace of a folder, as an XSpace message.

    Raises:
        Unreadable: there is no trace, TensorFlow has no description of its format, or it is corrupt.
    """
    files = glob.glob(os.path.join(glob.escape(folder), "**", "*.xplane.pb"), recursive=True)
    if not files:
        raise Unreadable("the profiler wrote no .xplane.pb file")
    for name in PROTOCOLS:
        try:
            message = importlib.import_module(name).XSpace()
            break
        except (ImportError, AttributeError):
            continue
    else:
        raise Unreadable("this TensorFlow can't read its own traces: it has no module xplane_pb2")
    try:
        with open(max(files, key=os.path.getmtime), "rb") as file:
            message.ParseFromString(file.read())
    except Exception as error:  # OSError, and protobuf's DecodeError
        raise Unreadable(f"the trace can't be read: {first_sentence(error)}") from None
    return message


def parts_of_step(space: Any, devices: tuple[str, ...], steps: int) -> Traced:
    """Return the seconds per traced step in each state, as the mean over the devices.

    Args:
        space: an XSpace message.
        devices: names such as "GPU:0". All logical parts of a CPU are one device: their ops share its threads.
        steps: number of traced steps.

    Raises:
        Unreadable: the trace lacks events that the sum needs.
    """
    planes = {plane.name: plane for plane in space.planes}
    if HOST not in planes:
        raise Unreadable("the trace has no events of the host" + _error(space))
    host = planes[HOST]
    window = _spans(host, lambda line: True, lambda name: name == WINDOW)
    if not window:
        raise Unreadable("the trace does not include the steps: the profiler's buffer was too small")
    begin, end = window[0]
    waiting = _spans(host, lambda line: True, lambda name: WAITS.fullmatch(name) is not None)
    gpus = [name for name in devices if name.startswith("GPU")]
    if gpus:
        working = [_activity(planes.get("/device:" + name)) for name in gpus]
    else:
        working = [_spans(host, lambda line: not line.startswith("tf_data"), _is_work)]
    if not any(working):
        raise Unreadable("the trace has no events of the devices" + _error(space))
    device = [_length(clipped(spans, begin, end)) for spans in working]
    covered = [_length(clipped(merged([*spans, *waiting]), begin, end)) for spans in working]
    count, whole = len(working), end - begin
    picoseconds = (whole, sum(device) / count, (sum(covered) - sum(device)) / count, whole - sum(covered) / count)
    seconds = [round(value / steps / 1e12, 9) for value in picoseconds]
    return Traced(
        steps=steps, step_seconds=seconds[0], device_seconds=seconds[1], input_seconds=seconds[2], host_seconds=seconds[3]
    )


def _error(space: Any) -> str:
    """Return the profiler's own error, for example that the driver restricts the GPU's counters to administrators."""
    return "".join(f": {words}" for words in list(space.errors)[:1])


def _is_work(name: str) -> bool:
    return OP.fullmatch(name) is not None and CALLS.fullmatch(name) is None


def _activity(plane: Any) -> list[tuple[int, int]]:
    """Return when a GPU was busy with kernels and copies. Only lines of streams are read: the others repeat the same events."""
    return [] if plane is None else _spans(plane, lambda line: line.startswith("Stream"), lambda name: True)


def _spans(plane: Any, selects_line: Callable[[str], bool], selects_event: Callable[[str], bool]) -> list[tuple[int, int]]:
    """Return when at least one selected event ran on a selected line of a plane: begin and end in picoseconds, see ``merged``."""
    names = {number for number, metadata in plane.event_metadata.items() if selects_event(metadata.name)}
    spans = []
    for line in plane.lines:
        if not selects_line(line.name):
            continue
        zero = line.timestamp_ns * 1000
        for event in line.events:
            if event.metadata_id in names:
                spans.append((zero + event.offset_ps, zero + event.offset_ps + event.duration_ps))
    return merged(spans)


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge spans; return them in ascending order, without overlap."""
    whole: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if whole and begin <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((begin, end))
    return whole


def clipped(spans: list[tuple[int, int]], begin: int, end: int) -> list[tuple[int, int]]:
    """Clip spans to the time between ``begin`` and ``end``."""
    return [(max(start, begin), min(other, end)) for start, other in spans if other > begin and start < end]


def _length(spans: list[tuple[int, int]]) -> int:
    return sum(end - begin for begin, end in spans)
