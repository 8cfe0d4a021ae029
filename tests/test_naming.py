"""One spelling of devices for every report, label and reason."""

import pytest

from gpucheck.model.naming import devices


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ((), ""),
        (("GPU:0",), "GPU:0"),
        (("GPU:0", "GPU:1", "GPU:2", "GPU:5"), "GPU:0-2,5"),
        (("GPU:0", "GPU:1", "CPU:0"), "GPU:0-1, CPU:0"),
        (("GPU:2", "GPU:1"), "GPU:2,1"),
        (("CPU:0", "CPU:0"), "2 × CPU:0"),
        (("GPU:0", "GPU:1", "GPU:0", "GPU:1", "GPU:0", "GPU:1"), "3 × GPU:0-1"),
        (("GPU:0", "GPU:1", "GPU:0"), "GPU:0-1,0"),
        (("worker 0", "worker 0"), "2 × worker 0"),
        (("worker 0", "GPU:1"), "worker 0, GPU:1"),
        (("/job:worker/replica:0/task:1/device:GPU:0",), "/job:worker/replica:0/task:1/device:GPU:0"),
    ],
)
def test_devices(names, text):
    assert devices(names) == text
    assert devices(names, ascii=True) == text.replace("×", "x")
