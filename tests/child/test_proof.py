"""What a run's figures say of how it computed."""

from types import SimpleNamespace

import pytest

from gpucheck.child.smoke import proof

NETWORK = SimpleNamespace(layers=[SimpleNamespace(compute_dtype="float32")], optimizer=SimpleNamespace())


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        (["GPU:0", "GPU:1"], True),
        (["/job:worker/replica:0/task:0/device:GPU:0"], True),
        (["CPU:0"], None),
        (["/job:worker/replica:0/task:0/device:CPU:0"], None),
        (["TPU:0"], None),
        ([], None),
    ],
)
def test_tf32_is_of_runs_on_gpus(devices, expected):
    assert proof.numerics(NETWORK, True, devices) == {"output_dtype": "float32", "loss_scale": None, "tf32": expected}
