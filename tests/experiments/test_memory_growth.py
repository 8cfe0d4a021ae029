"""Whether memory growth works, judged from the free memory of the fake driver."""

import contextlib
from types import SimpleNamespace

import pytest
from experiments.page import differences

from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.training.experiments import NotHere, Setting, memory_growth

GIB = 1 << 30


class Exhausted(Exception):
    """TensorFlow's ResourceExhaustedError."""


class TensorFlow:
    """A fake TensorFlow: GPUs, memory growth, and an allocator with limited room that records requested blocks."""

    def __init__(self, gpus=1, growth=True, room=0, split=1):
        self.asked = []
        self.config = SimpleNamespace(
            get_visible_devices=lambda kind: [f"gpu {number}" for number in range(gpus)],
            list_logical_devices=lambda kind: ["logical"] * gpus * split,
            experimental=SimpleNamespace(get_memory_growth=lambda gpu: growth),
        )
        self.errors = SimpleNamespace(ResourceExhaustedError=Exhausted)
        self.float32 = "float32"
        self.raw_ops = SimpleNamespace(Empty=self.empty)
        self.room = room

    def device(self, name):
        self.placed = name
        return contextlib.nullcontext()

    def empty(self, shape, dtype, init):
        size = 4 * shape[0]
        self.asked.append((self.placed, size))
        if size > self.room:
            raise Exhausted


def setting(tf, gpus=1):
    return Setting(tf, None, {f"GPU:{number}": f"GPU:{number}" for number in range(gpus)}, [])


def measured(tf, *used):
    """The experiment's result if that many GiB of each 12 GiB GPU are used."""
    states = [(12 * GIB - size * GIB, 12 * GIB) for size in used]
    here = setting(tf, len(used))
    return memory_growth.measured(here, here.devices(), states.__getitem__)


def test_no_allocation_is_tried_if_most_memory_is_free():
    tf = TensorFlow(room=12 * GIB)
    made = measured(tf, 1)
    assert made == ExperimentResult(("GPU:0",), {"gpu_0_free_bytes": 11 * GIB, "gpu_0_total_bytes": 12 * GIB})
    assert tf.asked == []  # no allocation is needed
    assert differences("memory_growth", made.figures) == []


def test_memory_held_by_tensorflow_is_reported():
    tf = TensorFlow(gpus=2, room=10 * GIB)
    made = measured(tf, 1, 11)
    assert made.problem == (
        "memory growth does not work on GPU:1: 1.0 of 12.0 GiB are free after a short training, and TensorFlow holds a"
        " block of 4.0 GiB"
    )
    assert tf.asked == [("/GPU:1", 4 * GIB)]


def test_memory_held_by_other_processes_is_not_reported():
    tf = TensorFlow(room=1 * GIB)
    assert measured(tf, 11).problem is None
    assert tf.asked == [("/GPU:0", 4 * GIB)]


@pytest.mark.parametrize(
    ("tf", "why"),
    [
        (TensorFlow(growth=False), "memory growth is not enabled: TensorFlow rejected it"),
        (TensorFlow(split=2), "the GPUs are split into logical devices, each with its own share of the memory"),
    ],
)
def test_skipped_without_memory_growth_or_with_split_gpus(tf, why):
    with pytest.raises(NotHere) as reason:
        memory_growth.run(setting(tf))
    assert str(reason.value) == why


def test_cpu_is_skipped():
    with pytest.raises(NotHere, match="main memory is not preallocated, and the device is CPU:0"):
        memory_growth.run(Setting(None, None, {"CPU:0": "CPU:0"}, []))
