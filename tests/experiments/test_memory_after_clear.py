"""Memory after ``clear_session``: real training on a CPU, once with a leak; and the allocator of a device."""

from types import SimpleNamespace

import pytest
from case_files import program
from experiments.page import differences
from in_tensorflow import MARKS, found_by

from gpucheck.core.training.experiments import NotHere, memory_after_clear

SCRIPT = program("memory_after_clear_script.py")
MIB = 1 << 20


@pytest.fixture(scope="module")
def found():
    return found_by(SCRIPT)


class TestTrained:
    """On a CPU, by the kernel's account."""

    pytestmark = MARKS

    def test_released_memory_is_measured_as_released(self, found):
        made = found["correct"]
        figures = made["figures"]
        assert made["problem"] is None
        assert made["devices"] == ["CPU:0"]
        assert figures["model_bytes"] == pytest.approx(3 * 4 * 373_000, rel=0.05)  # weights and Adam's two moments, in float32
        for number in (1, 2, 3):
            assert figures[f"held_after_round_{number}_bytes"] > 100 * MIB
            assert figures[f"peak_of_round_{number}_bytes"] >= figures[f"held_after_round_{number}_bytes"] * 0.9

    def test_problem_is_reported_only_above_the_tolerated_growth(self, found):
        for made in found.values():
            figures = made["figures"]
            over = figures["least_growth_of_a_round_bytes"] > figures["tolerated_growth_of_a_round_bytes"]
            assert over is (made["problem"] is not None)

    def test_every_figure_is_documented(self, found):
        assert differences("memory_after_clear", found["correct"]["figures"]) == []

    def test_accumulating_memory_is_reported(self, found):
        made = found["leaking"]
        assert made["figures"]["least_growth_of_a_round_bytes"] == pytest.approx(200 * MIB, abs=60 * MIB)
        assert made["problem"].startswith("memory is not released on CPU:0: each model that is trained and cleared leaves ")


def allocator(sizes):
    """A fake of TensorFlow's memory info: it returns these sizes in turn, and twice as much as peak."""
    remaining = iter(sizes)

    def info(device):
        now = next(remaining)
        return {"current": now, "peak": 2 * now}

    return SimpleNamespace(
        config=SimpleNamespace(experimental=SimpleNamespace(get_memory_info=info, reset_memory_stats=lambda device: None))
    )


def test_device_memory_is_read_from_the_allocator():
    watched = memory_after_clear.DeviceMemory(allocator([1, 5, 7]), "GPU:0")
    watched.reset()
    assert (watched.current(), watched.peak()) == (5, 14)


def test_device_without_memory_info_is_skipped():
    with pytest.raises(NotHere, match="does not count the memory of TPU:0"):
        memory_after_clear.DeviceMemory(SimpleNamespace(), "TPU:0")
