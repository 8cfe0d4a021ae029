"""TF32 on and off, with the real TensorFlow on a CPU, where it changes nothing; and the selection of the GPU."""

from types import SimpleNamespace

import pytest
from case_files import program
from experiments.page import differences
from in_tensorflow import MARKS, found_by

from gpucheck.core.training.experiments import NotHere, Setting, tensor_float_32

SCRIPT = program("tensor_float_32_script.py")


@pytest.fixture(scope="module")
def found():
    return found_by(SCRIPT)


def gpus(count, logical, capability):
    """The part of TensorFlow that reports GPUs."""
    return SimpleNamespace(
        config=SimpleNamespace(
            get_visible_devices=lambda kind: list(range(count)),
            list_logical_devices=lambda kind: list(range(logical)),
            experimental=SimpleNamespace(get_device_details=lambda gpu: {"compute_capability": capability[gpu]}),
        )
    )


def here(device, tf, names=None):
    tensor_float_32.require_tf32(Setting(tf, None, names or {device: device}, []), device)


class TestMeasured:
    """With and without TF32, from the same weights."""

    pytestmark = MARKS

    def test_losses_with_and_without_tf32_match_on_a_cpu(self, found):
        with_tf32, without = found["losses"]
        assert with_tf32 == pytest.approx(without, rel=1e-3)
        assert without[-1] < without[0]
        assert min(found["seconds"]) > 0

    def test_tf32_is_switched_during_measurement_and_restored(self, found):
        assert found["seen"] == [True, False]
        assert found["after"] is False


def test_every_figure_is_documented():
    losses, seconds = {True: [2.5, 2.0], False: [2.5, 2.0]}, {True: 0.002, False: 0.003}
    assert differences("tensor_float_32", tensor_float_32.result_of("GPU:0", 512, losses, seconds).figures) == []


def test_cpu_is_skipped():
    with pytest.raises(NotHere, match="TF32 requires an NVIDIA GPU, and the device is CPU:0"):
        tensor_float_32.run(Setting(None, None, {"CPU:0": "CPU:0"}, []))


def test_gpu_before_ampere_is_skipped():
    with pytest.raises(NotHere, match=r"GPU:0 has compute capability 7\.5; TF32 requires 8\.0 or higher"):
        here("GPU:0", gpus(1, 1, [(7, 5)]))


def test_gpu_without_a_known_capability_is_skipped():
    with pytest.raises(NotHere, match="does not report"):
        here("GPU:0", gpus(1, 1, [None]))


@pytest.mark.parametrize(("device", "count", "logical"), [("GPU:1", 2, 2), ("GPU:2", 2, 4), ("GPU:3", 2, 4)])
def test_logical_device_has_the_capability_of_its_gpu(device, count, logical):
    here(device, gpus(count, logical, [(7, 0), (9, 0)]))


def test_logical_device_of_the_older_of_two_split_gpus_is_skipped():
    with pytest.raises(NotHere):
        here("GPU:1", gpus(2, 4, [(7, 0), (9, 0)]))
