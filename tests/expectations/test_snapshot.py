"""A known-good machine's snapshot: the machine meets it, and the file contains the measured values."""

import pytest
from expectations import recorded_reports
from fakes import machine

from gpucheck.commands.expectations import snapshot
from gpucheck.core.expectations import read
from gpucheck.core.model import TrainingExpectations, Verdict


def report(name, changes=None, expectations=None, **request):
    return recorded_reports.report(changes, name, expectations=expectations, allow_cpu=name == "laptop-cpu", **request)


def written(name, changes=None):
    good = report(name, changes)
    return snapshot.render(snapshot.expectations(good), good)


@pytest.mark.parametrize("name", ["h200", "hgx-h200", "laptop-cpu"])
def test_machine_meets_its_own_snapshot(name):
    got = report(name, expectations=read.parse(written(name), "expected.toml"))
    assert (got.verdict, got.findings, got.unknown_because) == (Verdict.PASS, (), ())
    assert [one for one in got.outcomes if one.code.endswith("-unexpected") and one.status.value != "clear"] == []


def test_snapshot_contains_the_measured_values():
    got = read.parse(written("hgx-h200"), "expected.toml")
    assert (got.gpu.count, got.gpu.names, got.gpu.memory_gib) == (8, ("NVIDIA H200",), 140.4)
    assert got.gpu.compute_capability == "9.0"
    assert (got.versions.driver, got.versions.cuda) == ("==580.159.04", "==13.0")
    assert (got.versions.tensorflow, got.versions.keras, got.versions.python) == ("==2.21.0", "==3.15.1", "==3.12.3")
    assert got.training.strategies == ("one_device", "mirrored")


def test_expected_speed_is_half_of_the_slowest_device():
    text = written("hgx-h200", {"training.runs[2].samples_per_second": 3000.0})
    assert read.parse(text, "x").training.min_samples_per_second["one_device"] == {"float32": 1500.0}
    assert "# 50% of the slowest device's measured samples per second" in text
    assert "# measured: 3,000 in float32" in text


@pytest.mark.parametrize("share", [0.55, 0.8])
def test_machine_under_load_still_meets_its_snapshot(share):
    wanted = read.parse(written("h200"), "expected.toml")
    assert wanted.training.min_samples_per_second
    plain = machine("h200")["training"]["runs"]
    slower = {f"training.runs[{n}].samples_per_second": run["samples_per_second"] * share for n, run in enumerate(plain)}
    assert report("h200", slower, wanted).verdict is Verdict.PASS
    slower = {path: speed / 2 for path, speed in slower.items()}
    assert [one.code for one in report("h200", slower, wanted).findings] == ["training-unexpected"]


def test_cpu_speed_is_a_comment_instead_of_an_expectation():
    text = written("laptop-cpu")
    assert read.parse(text, "x").training.min_samples_per_second == {}
    assert read.parse(text, "x").training.strategies == ("one_device", "mirrored")
    rate = machine("laptop-cpu")["training"]["runs"][0]["samples_per_second"]
    assert f"{rate:,.4g} in float32 on CPU:0" in text
    assert "min_samples_per_second" not in text
    assert "50%" not in text


def test_slow_first_step_on_a_busy_machine_is_tolerated():
    """With four busy loops on two processors, a first step took 3.4 s instead of 0.62 s."""
    first = {f"training.runs[{n}].first_step_seconds": 4.0 for n in (0, 1)}
    wanted = read.parse(written("laptop-cpu", first), "x")
    assert wanted.training.max_first_step_seconds == 30.0
    assert report("laptop-cpu", dict.fromkeys(first, 5.6 * 4.0), wanted).verdict is Verdict.PASS
    assert (
        read.parse(written("h200", {"training.runs[0].first_step_seconds": 20.0}), "x").training.max_first_step_seconds == 100.0
    )


def test_different_machine_does_not_meet_the_snapshot():
    wanted = read.parse(written("hgx-h200"), "expected.toml")
    got = report("h200", expectations=wanted)
    assert {one.code for one in got.findings} >= {"gpu-count-unexpected"}
    assert got.verdict is Verdict.FAIL


def test_warnings_at_snapshot_time_are_allowed():
    changes = {"limits.kernel_cache_writable": False}
    codes = {one.code for one in report("h200", changes).findings}
    assert codes
    assert set(read.parse(written("h200", changes), "x").allowed_warnings) == codes


def test_xla_compiled_and_failed_jobs_are_omitted():
    got = read.parse(written("h200", {"training.runs[0].compiled": True, "training.runs[1].status": "failed"}), "x")
    assert got.training.strategies == ("one_device",)
    assert got.training.min_samples_per_second == {}


def test_unusual_gpu_name_can_be_read_back():
    name = 'Odd "GPU"\\ with\nlines and ünicode'
    got = read.parse(written("h200", {"gpus.gpus[0].name": name}), "x")
    assert got.gpu.names == (name,)


def test_unparsable_version_is_omitted():
    text = written("h200", {"keras.version": None, "packages.keras.version": "from git"})
    assert read.parse(text, "x").versions.keras is None
    assert "# keras: unknown" in text


def test_quick_snapshot_notes_that_nothing_was_trained():
    good = report("h200", without=recorded_reports.ABOVE_QUICK, level=0)
    text = snapshot.render(snapshot.expectations(good), good)
    assert "Nothing was trained in this run (--quick)." in text
    assert read.parse(text, "x").training == TrainingExpectations()


def test_variables_are_valid_but_commented_out():
    text = written("h200", {"environment.variables": {"XLA_FLAGS": "--a=1", "SLURM_JOB_ID": "7"}})
    assert read.parse(text, "x").environment == {}
    used = text.replace("# [environment]", "[environment]").replace("# XLA_FLAGS", "XLA_FLAGS")
    assert read.parse(used, "x").environment == {"XLA_FLAGS": "--a=1"}
    assert "# XLA_FLAGS = false" in written("h200", {"environment.variables": {}})
