"""Events of a running training, from given samples and times."""

import pytest

from gpucheck.commands.watch.judge import Pace, idle, memory, not_finite, slowed, stalled
from gpucheck.core.child.messages.drivers import GpuSample

FINE, HOT, LOST = GpuSample(90, 300.0, 1900, 0), GpuSample(90, 300.0, 1200, 0x40), GpuSample(lost=True)
SLOW = Pace(0.1, 70.0)


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        ([[FINE, FINE]] * 5, []),
        ([[FINE, HOT]] * 2 + [[FINE, FINE]] * 3, []),
        ([[FINE, HOT]] * 3 + [[FINE, FINE]] * 2, ["GPU 1 is throttled at 1,200 MHz by heat (hardware thermal slowdown)"]),
        ([[HOT]], []),
        ([[FINE, LOST]], ["GPU 1 no longer responds: it has fallen off the bus, or the driver has stopped using it"]),
        ([], []),
    ],
)
def test_throttled_and_lost_gpus(moments, expected):
    assert [event.text for event in slowed(moments)] == expected


@pytest.mark.parametrize(
    ("pace", "last", "place", "silent", "code", "message"),
    [
        (Pace(None, 500.0), [FINE], None, False, None, ""),
        (Pace(0.1, 59.0), [FINE], None, False, None, ""),
        (Pace(10.0, 150.0), [FINE], None, False, None, ""),
        (
            SLOW,
            [FINE],
            None,
            True,
            "driver-unresponsive",
            "no step has ended for 70 s; a step usually takes 100 ms. The NVIDIA driver",
        ),
        (SLOW, [FINE], "data.py:12 in read", False, "input-pipeline-bound", "The input pipeline is at data.py:12 in read"),
        (SLOW, [GpuSample(0)], None, False, "input-pipeline-bound", "The GPU is idle"),
        (SLOW, [GpuSample(0), FINE], None, False, "training-failed", "The GPU is busy (90 %)"),
        (Pace(4.0, 90.0), [], None, False, "training-failed", "a step usually takes 4.0 s"),
    ],
)
def test_stalled_step(pace, last, place, silent, code, message):
    events = list(stalled(pace, 60.0, last, place, silent))
    assert [event.code for event in events] == ([code] if code else [])
    assert all(message in event.text for event in events)


def test_low_memory():
    (event,) = memory(1 << 30, 100 << 30)
    assert str(event).startswith("gpucheck: main memory is running out: 1.0 of 100.0 GiB is left")
    assert [*memory(6 << 30, 100 << 30), *memory(None, None)] == []


@pytest.mark.parametrize(
    ("value", "precision", "rate", "message"),
    [
        (float("nan"), "mixed_float16", 0.1, "loss became NaN in epoch 1, step 3 (precision mixed_float16, learning rate 0.1)"),
        (float("inf"), "float32", None, "loss became infinite in epoch 1, step 3"),
    ],
)
def test_loss_not_finite(value, precision, rate, message):
    assert not_finite("loss", value, 0, 2, precision, rate, True).text == f"{message}. The training stops here"


def test_idle_gpus():
    assert [event.text.partition(":")[0] for event in idle([3], 60.0)] == ["GPU 3 has been at 0 % for 60 s while others train"]
    assert [*idle([], 60.0)] == []
