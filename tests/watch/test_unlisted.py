"""A strategy with a device that TensorFlow does not list, whose first step never ends."""

import types

import pytest

from gpucheck.commands.watch.unused import unlisted


class Extended:
    def __init__(self, devices):
        self.worker_devices = tuple(f"/job:localhost/replica:0/task:0/device:{name}" for name in devices)


class MirroredStrategy:
    def __init__(self, *devices):
        self.extended = Extended(devices)


class Default:
    @property
    def extended(self):
        raise RuntimeError("worker_devices() method unsupported by default tf.distribute.Strategy.")


def tensorflow(*names):
    devices = [types.SimpleNamespace(name=f"/device:{name}") for name in names]
    return types.SimpleNamespace(config=types.SimpleNamespace(list_logical_devices=lambda: devices))


def test_unlisted_device_is_reported():
    event = unlisted(tensorflow("CPU:0", "GPU:0"), MirroredStrategy("GPU:0", "GPU:8"))
    assert (event.code, event.text) == (
        "replica-count-mismatch",
        "the strategy uses GPU:8, which TensorFlow does not list, so the first step may never end:"
        " build it without a list of devices, tf.distribute.MirroredStrategy()",
    )


@pytest.mark.parametrize("strategy", [MirroredStrategy("GPU:0", "CPU:0"), Default(), None])
def test_listed_devices_are_not_reported(strategy):
    assert unlisted(tensorflow("CPU:0", "GPU:0", "GPU:1"), strategy) is None
