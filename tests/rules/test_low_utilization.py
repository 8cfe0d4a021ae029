"""Slow hardware, starved GPUs, compiled kernels and work on the wrong device; and when none of it is a fault."""

import pytest
from one_rule import changed, found, log, named, only_log, outcome, roots, severity, status

from gpucheck.model import Severity, Status

THROTTLED, LINK, QUOTA = "gpu-throttled", "pcie-link-degraded", "cpu-quota-too-low"
CACHE, COMPILED, FALLBACK = "kernel-cache-unwritable", "kernels-jit-compiled", "cpu-fallback"


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (0x1, Status.CLEAR),  # idle
        (0x4, Status.CLEAR),  # at its power limit under full load
        (0x1 | 0x8, Status.CLEAR),
        (0x8, Status.FOUND),
        (0x20, Status.FOUND),
        (0x1 | 0x40, Status.FOUND),  # hot although it rests
        (0x80, Status.FOUND),
        (None, Status.SKIPPED),
    ],
)
def test_clock_event_reasons(mask, expected):
    assert status(THROTTLED, changed({"gpus.gpus[0].clock_event_reasons": mask}, quick=True)) is expected


def test_one_slow_gpu_of_eight_is_named():
    finding = found(THROTTLED, changed({"gpus.gpus[3].clock_event_reasons": 0x80}, "hgx-h200"))
    assert finding.affects == ("GPU 3",)
    assert "HwPowerBrakeSlowdown" in finding.summary


def trained(*slowed, samples=40, by="HwThermalSlowdown", clock=1200.0):
    """What each GPU did during training: in so many samples its clock was held down."""
    told = [{"index": index, "samples": samples, "slowed_samples": count} for index, count in enumerate(slowed)]
    told = [{**one, "slowed_by": [by], "slowed_sm_clock_mhz": clock} if one["slowed_samples"] else one for one in told]
    return changed({"activity": {"gpus": told}}, "hgx-h200" if len(slowed) > 1 else "h200")


@pytest.mark.parametrize(
    ("count", "samples", "expected"),
    [
        (0, 40, Status.CLEAR),
        (2, 10, Status.CLEAR),
        (3, 40, Status.FOUND),
        (40, 40, Status.FOUND),
        (19, 400, Status.CLEAR),
        (20, 400, Status.FOUND),
    ],
)
def test_clocks_during_training(count, samples, expected):
    assert status(THROTTLED, trained(count, samples=samples)) is expected


def test_gpus_that_are_slowed_down_only_under_load():
    finding = found(THROTTLED, trained(0, 0, 5, 12, 0, 0, 0, 0))
    assert finding.summary == (
        "GPU 3 (NVIDIA H200) was slowed down by HwThermalSlowdown in 12 of 40 samples during training: its SM clock was 1200 of"
        " 1980 MHz; 2 of 8 GPUs were slowed down."
    )
    assert finding.affects == ("GPU 2", "GPU 3")
    assert ("activity", "gpus[3].slowed_samples") in {(item.fact, item.field) for item in finding.evidence}
    unknown = trained(9, clock=None)
    assert found(THROTTLED, unknown).summary.endswith("in 9 of 40 samples during training.")


BUSY = {"gpus.gpus[0].utilization_percent": 98, "gpus.gpus[0].clock_event_reasons": 0x4}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"gpus.gpus[0].pcie_generation": 1}, Status.CLEAR),  # saves power at rest
        ({"gpus.gpus[0].pcie_generation": 1, **BUSY}, Status.FOUND),
        ({"gpus.gpus[0].pcie_width": 8}, Status.FOUND),
        ({"gpus.gpus[0].pcie_width": None}, Status.SKIPPED),
    ],
)
def test_pcie_link(changes, expected):
    assert status(LINK, changed(changes)) is expected


@pytest.mark.parametrize(
    ("changes", "name", "expected"),
    [
        ({"limits.cpu_quota": 1.5}, "h200", Status.FOUND),
        ({"limits.cpu_quota": 2.0}, "h200", Status.CLEAR),
        ({"limits.cpu_affinity_count": 1}, "h200", Status.FOUND),
        ({"limits.cpu_count": 1, "limits.cpu_affinity_count": 1}, "h200", Status.CLEAR),  # no quota: a small machine
        ({"limits.cpu_quota": 8.0}, "hgx-h200", Status.FOUND),
        ({"limits.cpu_quota": 0.5}, "laptop-cpu", Status.CLEAR),
        ({"limits": {}}, "h200", Status.SKIPPED),
    ],
)
def test_processors(changes, name, expected):
    assert status(QUOTA, changed(changes, name)) is expected


@pytest.mark.parametrize(("there", "asked"), [(4, "--cpus-per-task=4"), (32, "--cpus-per-task=8"), (None, "--cpus-per-task=8")])
def test_no_more_processors_are_asked_for_than_there_are(there, asked):
    plain = changed({"limits.cpu_count": there, "limits.cpu_quota": 1.0, "container.inside": False})
    assert asked in found(QUOTA, plain).fix[0].text


NATIVE = {"gpus.gpus[0].compute_capability": [8, 0], "cuda.devices[0].compute_capability": [8, 0]}
READ_ONLY = {"limits.kernel_cache_writable": False}


@pytest.mark.parametrize(
    ("changes", "name", "expected"),
    [
        (READ_ONLY, "h200", Status.FOUND),
        ({"limits.kernel_cache_disabled": True}, "h200", Status.FOUND),
        ({**READ_ONLY, **NATIVE}, "h200", Status.CLEAR),  # nothing to compile on an A100
        (READ_ONLY, "laptop-cpu", Status.CLEAR),
        ({"limits.kernel_cache_writable": None}, "h200", Status.SKIPPED),
        ({**READ_ONLY, "packages.tensorflow": None}, "h200", Status.SKIPPED),
    ],
)
def test_kernel_cache(changes, name, expected):
    assert status(CACHE, changed(changes, name, quick=True)) is expected


JIT = ("kernels-jit-compiled", "CUDA kernels will be jit-compiled from PTX", {"capability": "12.0"})


def test_compiled_kernels_are_reported_only_where_they_cost():
    assert status(COMPILED, changed({"log": log(JIT)})) is Status.CLEAR  # first step 4.4 s: from the cache
    assert status(COMPILED, changed({"training.runs[0].first_step_seconds": 85.0})) is Status.FOUND
    assert (
        status(COMPILED, changed({"training.runs[0].first_step_seconds": 85.0, **NATIVE, "tensorflow.devices": []}))
        is Status.CLEAR
    )
    assert status(COMPILED, changed(quick=True)) is Status.SKIPPED
    late = {
        "training.runs[0].status": "timed_out",
        "training.runs[0].stage": "first step",
        "training.runs[0].first_step_seconds": None,
    }
    assert "did not end in time" in found(COMPILED, changed(late)).summary
    assert "a GPU of compute capability 12.0" in found(COMPILED, only_log(JIT)).summary


def test_an_unwritable_cache_is_the_cause_of_compiling():
    assert roots(changed({**READ_ONLY, "training.runs[0].first_step_seconds": 85.0})) == [CACHE]


def test_only_the_cpu_was_trained_on():
    plain = changed({"training.runs[0].devices": ["CPU:0"], "training.runs[1].devices": ["CPU:0"]})
    assert severity(FALLBACK, plain) is Severity.WARNING
    plain["tensorflow"]["devices"] = plain["tensorflow"]["devices"][:1]
    assert status(FALLBACK, plain) is Status.CLEAR  # why TensorFlow lists none has its own page


def test_a_gpu_run_that_was_skipped_is_no_fallback():
    assert status(FALLBACK, changed({"training.runs[0].status": "skipped"})) is Status.CLEAR
    assert outcome(FALLBACK, changed(quick=True)).outcome.status is Status.SKIPPED
    assert FALLBACK in named(("cpu-fallback", "There are non-GPU devices"))


def test_a_replica_that_did_nothing():
    plain = changed({"training.runs[8].placement_verified": False}, "hgx-h200")
    assert "did not use every one of its devices" in found(FALLBACK, plain).summary
    assert len(found(FALLBACK, plain).affects) == 8
