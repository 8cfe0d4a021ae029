"""A TensorFlow Profiler trace of some steps, and where their time went: on the device, waiting for input, on the host.

The profiler writes an XSpace message (``*.xplane.pb``) of planes (the host, each GPU), lines (threads, CUDA streams) and events.
At every moment of the traced steps a device is in one of three states, so that the three add up to the wall time:

- device: it works. Of a GPU, any activity on one of its streams; of the CPU, an op, or a function that XLA compiled.
- input: it does not work, and the step waits in ``IteratorGetNext`` for the input pipeline.
- host: it does neither: Python, dispatch, and everything else that the host keeps it waiting for.

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
from gpucheck.core.child.smoke.proof import first_sentence
from gpucheck.core.child.smoke.throughput import Trainer

PROTOCOLS = ("tensorflow.tsl.profiler.protobuf.xplane_pb2", "tensorflow.core.profiler.protobuf.xplane_pb2")  # since 2.12; before
HOST = "/host:CPU"
WINDOW = "gpucheck: traced steps"  # our own event around all of them, the wait for the last one included
WAITS = re.compile(r"Iterator\w*GetNext\w*(::DoCompute)?|[\w./>-]+:IteratorGetNext\w*")
OP = re.compile(r"[A-Za-z0-9.][\w./\\>-]*:[A-Z_]\w*|CpuExecutable::.*|ThunkExecutor::Execute\b.*")
# Ops that do no work themselves: they span what they call, which may be a wait for input.
CALLS = re.compile(r".*:(_?(Stateful)?PartitionedCall|RemoteCall|(Stateless)?(While|If|Case)|\w*Iterator\w*)(V\d)?")


class Unreadable(Exception):
    """A trace that can't be summed up; its words say why."""


def trace(tf: Any, trainer: Trainer, source: Any, steps: int, folder: str, devices: tuple[str, ...]) -> Profile:
    """Trace some steps on the input pipeline, for TensorBoard, and sum them up. Tracing slows steps down.

    Args:
        tf: TensorFlow.
        trainer: warmed up.
        source: the trainer's iterator.
        steps: how many.
        folder: where TensorBoard will find the trace; it is made.
        devices: the logical devices that are trained on.
    """
    result = Profile(folder)
    profiler = tf.profiler.experimental
    try:
        profiler.start(folder)  # the first time takes a second
        profiler.stop(save=False)
        trainer.piped(source, steps)  # uses up what the pipeline has prepared while nobody asked for it
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
    """The newest trace of a folder, as an XSpace message.

    Raises:
        Unreadable: no trace is there, TensorFlow brings no description of its format, or it is broken.
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
    """Seconds of one of the traced steps by what the devices did, the mean of the devices.

    Args:
        space: an XSpace message.
        devices: names such as "GPU:0". All logical parts of a CPU are one device: their ops share its threads.
        steps: how many were traced.

    Raises:
        Unreadable: the trace lacks what a sum needs.
    """
    planes = {plane.name: plane for plane in space.planes}
    if HOST not in planes:
        raise Unreadable("the trace holds nothing of the host" + _error(space))
    host = planes[HOST]
    window = _spans(host, lambda line: True, lambda name: name == WINDOW)
    if not window:
        raise Unreadable("the trace does not hold the steps: the profiler's buffer was too small")
    begin, end = window[0]
    waiting = _spans(host, lambda line: True, lambda name: WAITS.fullmatch(name) is not None)
    gpus = [name for name in devices if name.startswith("GPU")]
    if gpus:
        working = [_activity(planes.get("/device:" + name)) for name in gpus]
    else:
        working = [_spans(host, lambda line: not line.startswith("tf_data"), _is_work)]
    if not any(working):
        raise Unreadable("the trace holds nothing that the devices did" + _error(space))
    device = [_length(within(spans, begin, end)) for spans in working]
    covered = [_length(within(merged([*spans, *waiting]), begin, end)) for spans in working]
    count, whole = len(working), end - begin
    picoseconds = (whole, sum(device) / count, (sum(covered) - sum(device)) / count, whole - sum(covered) / count)
    seconds = [round(value / steps / 1e12, 9) for value in picoseconds]
    return Traced(
        steps=steps, step_seconds=seconds[0], device_seconds=seconds[1], input_seconds=seconds[2], host_seconds=seconds[3]
    )


def _error(space: Any) -> str:
    """What the profiler itself says went wrong, such as that the driver keeps the GPU's counters for administrators."""
    return "".join(f": {words}" for words in list(space.errors)[:1])


def _is_work(name: str) -> bool:
    return OP.fullmatch(name) is not None and CALLS.fullmatch(name) is None


def _activity(plane: Any) -> list[tuple[int, int]]:
    """When a GPU did anything: kernels and copies. Other lines than those of streams repeat them by name."""
    return [] if plane is None else _spans(plane, lambda line: line.startswith("Stream"), lambda name: True)


def _spans(plane: Any, wanted_line: Callable[[str], bool], wanted_event: Callable[[str], bool]) -> list[tuple[int, int]]:
    """When at least one such event was under way on such lines of a plane: begin and end, in picoseconds, see ``merged``."""
    names = {number for number, metadata in plane.event_metadata.items() if wanted_event(metadata.name)}
    spans = []
    for line in plane.lines:
        if not wanted_line(line.name):
            continue
        zero = line.timestamp_ns * 1000
        for event in line.events:
            if event.metadata_id in names:
                spans.append((zero + event.offset_ps, zero + event.offset_ps + event.duration_ps))
    return merged(spans)


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same times, ascending and without overlap."""
    whole: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if whole and begin <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((begin, end))
    return whole


def within(spans: list[tuple[int, int]], begin: int, end: int) -> list[tuple[int, int]]:
    """What lies between two moments."""
    return [(max(start, begin), min(other, end)) for start, other in spans if other > begin and start < end]


def _length(spans: list[tuple[int, int]]) -> int:
    return sum(end - begin for begin, end in spans)
