"""Scaling over two logical CPU devices, measured with the real TensorFlow: the definition and the parts."""

import pytest
from case_files import program
from experiments.page import differences
from in_tensorflow import MARKS, printed_by

pytestmark = MARKS

SCRIPT = program("scaling_script.py")


@pytest.fixture(scope="module")
def measured():
    return printed_by(SCRIPT)


def test_efficiency_matches_its_terms(measured):
    figures = measured["whole"]["figures"]
    for prefix in ("", "doubled_batch_"):
        together, one = (figures[f"{prefix}{name}_samples_per_second"] for name in ("all_devices", "one_device"))
        assert figures[f"{prefix}scaling_efficiency"] == pytest.approx(together / (2 * one), rel=1e-3)
    for name, samples in (("one_device", 16), ("all_devices", 2 * 16)):
        rate, seconds = figures[f"{name}_samples_per_second"], figures[f"{name}_step_seconds"]
        assert rate == pytest.approx(samples / seconds, rel=1e-2)
    assert (figures["replicas"], figures["per_replica_batch_size"]) == (2, 16)


def test_largest_passed_job_is_measured(measured):
    assert measured["whole"]["devices"] == ["XPU:0", "XPU:1"]


def test_job_gets_its_efficiency(measured):
    run = measured["whole"]["run"]
    assert (run["strategy"], run["devices"], run["precision"]) == ("mirrored", ["XPU:0", "XPU:1"], "float32")
    assert run["scaling_efficiency"] > 0
    assert run["doubled_batch_scaling_efficiency"] > 0


def test_exchange_and_computation_are_measured_separately(measured):
    figures = measured["whole"]["figures"]
    assert figures["gradient_bytes"] == 4 * measured["variables"]
    steps = [f"{name}_repeated_batch_step_seconds" for name in ("one_device", "all_devices")]
    for name in ("gradient_all_reduce_seconds", *steps):
        assert figures[name] > 0


def test_all_reduce_rate_matches_its_bytes_and_seconds(measured):
    figures = measured["whole"]["figures"]
    size, seconds, rate = (figures[f"large_all_reduce_{name}"] for name in ("bytes", "seconds", "bytes_per_second"))
    assert size == 32 << 20
    assert rate == pytest.approx(size / seconds, rel=1e-2)


def test_every_figure_is_documented(measured):
    assert differences("scaling", measured["whole"]["figures"]) == []


def test_all_reduce_sums_the_gradients(measured):
    assert measured["sums"] == [[[[2.0] * 3] * 2] * 2, [[2.0] * 4] * 2]


def test_both_batch_sizes_share_one_trace(measured):
    """Tracing costs seconds on each replica."""
    assert measured["calls"] == ["trainer", "trace"] * 2


def test_skipped_without_a_passed_job_on_several_devices(measured):
    assert measured["refused"][:3] == ["no mirrored job on several devices has passed"] * 3


def test_logical_cpu_devices_are_skipped(measured):
    assert measured["refused"][3] == "the logical devices of a CPU share its cores"
