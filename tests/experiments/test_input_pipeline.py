"""The cost of the pipeline, measured with the real TensorFlow on the CPU; the rules report a deliberately slow one."""

import msgspec
import pytest
from case_files import program
from experiments.page import differences
from fakes import readings
from in_tensorflow import MARKS, printed_by
from one_rule import RULES

from gpucheck.core.child.messages.training import TrainingRun
from gpucheck.core.engine.judgement import judge
from gpucheck.core.model import Experiment, Reading, Status
from gpucheck.core.model.fact import Facts
from gpucheck.core.probes.training import Training

pytestmark = MARKS

SCRIPT = program("input_pipeline_script.py")


@pytest.fixture(scope="module")
def measured():
    return printed_by(SCRIPT)


def test_every_figure_is_measured_and_plausible(measured):
    figures = measured["whole"]["figures"]
    assert measured["whole"]["devices"] == ["CPU:0"]
    remedies = ("plain", "prefetch", "parallel_map", "cache", "larger_batch")
    rates = ["device", "piped", "smoke_pipeline", *(f"jpeg_{remedy}" for remedy in remedies)]
    assert [name for name in figures if name.endswith("_samples_per_second")] == [f"{name}_samples_per_second" for name in rates]
    assert all(figures[f"{name}_samples_per_second"] > 0 for name in rates)
    assert figures["jpeg_decode_and_augment_seconds_per_sample"] > 0
    assert (figures["batch_size"], figures["jpeg_larger_batch_size"]) == (8, 16)
    # The smoke job's pipeline only slices arrays; however busy the machine is, its steps don't wait for that.
    assert 0 <= figures["input_wait_share"] < 0.2


@pytest.mark.parametrize("made", ["whole", "starved"])
def test_input_wait_and_other_slowdown_add_up_to_the_gap(measured, made):
    figures = measured[made]["figures"]
    gap = 1 - figures["piped_samples_per_second"] / figures["device_samples_per_second"]
    assert figures["input_wait_share"] + figures["other_slowdown_share"] == pytest.approx(gap, abs=5e-3)


def test_input_wait_does_not_exceed_the_time_of_the_pipeline(measured):
    """Other load on the machine is not attributed to the pipeline."""
    figures = measured["whole"]["figures"]
    most = figures["piped_samples_per_second"] / figures["smoke_pipeline_samples_per_second"]
    assert figures["input_wait_share"] <= most + 1e-3


def test_every_figure_is_documented(measured):
    assert differences("input_pipeline", measured["whole"]["figures"]) == []


def test_job_on_the_same_device_gets_the_measured_figures(measured):
    figures, run = measured["whole"]["figures"], measured["whole"]["run"]
    assert (run["strategy"], run["devices"], run["precision"]) == ("one_device", ["CPU:0"], "float32")
    names = ("device_samples_per_second", "piped_samples_per_second", "input_wait_share")  # all three of the same steps
    assert {name: run[name] for name in names} == {name: figures[name] for name in names}


def test_tensorflow_optimizations_are_disabled(measured):
    assert list(measured["rewrites"]) == ["plain", "prefetch", "parallel_map", "cache", "larger_batch"]
    for rewrites in measured["rewrites"].values():
        assert rewrites["apply_default_optimizations"] is False
        assert rewrites["map_parallelization"] is False
        assert rewrites["inject_prefetch"] is False


def test_slow_pipeline_is_reported_from_its_measurements(measured):
    starved = measured["starved"]
    assert 0.2 < starved["run"]["input_wait_share"] <= 1
    made = Experiment(name="input_pipeline", status="passed", devices=("CPU:0",), figures=starved["figures"])
    training = Training(runs=(msgspec.convert(starved["run"], TrainingRun),), experiments=(made,))
    (judgement,) = judge(
        Facts([*readings({}), Reading(probe="training", status="ok", fact=training)]), [RULES["input-pipeline-bound"]]
    )
    assert judgement.outcome.status is Status.FOUND
    piped, alone = (measured["starved"]["figures"][f"{name}_samples_per_second"] for name in ("piped", "device"))
    assert f"{piped:.0f} samples per second instead of {alone:.0f}" in judgement.finding.summary
    assert piped < alone


def test_experiment_is_skipped_without_an_accelerator(measured):
    assert measured["refused"] == "no accelerator has trained alone in float32"
    assert measured["policy"] == "float32"
