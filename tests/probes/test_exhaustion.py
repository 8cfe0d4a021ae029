"""Provoked out-of-memory errors: the conclusion from the child's result."""

import pytest
from case_files import table
from experiments.page import differences
from fakes import FakeChild, FakeHost

from gpucheck.core.child.messages.frameworks import KerasImport, KerasImported, TensorFlowImport, TensorFlowImported
from gpucheck.core.child.messages.struct import replace
from gpucheck.core.child.messages.training import (
    Exhausted,
    ExhaustionTask,
    ExperimentResult,
    Job,
    LimitSet,
    Planned,
    Recovered,
    Trained,
)
from gpucheck.core.model import Level, Request, TrainingRun
from gpucheck.core.probes import training
from gpucheck.core.probes._exhaustion import provoke

GIB = 1 << 30
WORDS = "ResourceExhaustedError: OOM when allocating tensor"
LIMIT = LimitSet(2.5, GIB)
EXHAUSTED = Exhausted(2 * GIB, 10.1, "ResourceExhaustedError", WORDS)
MESSAGES = (
    TensorFlowImported(TensorFlowImport(imported=True)),
    KerasImported(KerasImport(imported=True)),
    LIMIT,
    EXHAUSTED,
    Recovered(2.5),
)


def run(device="GPU:0", status="passed", **more):
    devices = tuple(device.split(","))
    return TrainingRun(strategy="one_device", devices=devices, replicas=len(devices), precision="float32", status=status, **more)


GPU = (run(),)


def made(*messages, runs=GPU, how="finished", stage=None, remaining=60.0, **request):
    child = FakeChild(*(messages or MESSAGES), how=how, stage=stage)
    host = FakeHost(children={"exhaustion": child}, remaining=remaining, request=Request(**request))
    (experiment,) = provoke(host, runs)
    return experiment, host.asked


def judged(*messages, **more):
    experiment, _ = made(*messages, **more)
    return experiment.status, experiment.reason


def up_to(stage):
    return MESSAGES[: [message.stage for message in MESSAGES].index(stage)]


def test_experiment_passes_if_caught_and_recovered():
    experiment, _ = made()
    assert (experiment.name, experiment.status, experiment.reason) == ("out_of_memory", "passed", None)
    assert experiment.devices == ("GPU:0",)
    assert experiment.note == WORDS
    assert experiment.figures == {
        "limit_set_by_gpucheck_bytes": GIB,
        "asked_bytes": 2 * GIB,
        "raised_after_seconds": 10.1,
        "loss_before": 2.5,
        "loss_after": 2.5,
    }
    assert differences("out_of_memory", experiment.figures) == []


@table
def test_crashed_child_fails_the_experiment(stage, how, reason):
    assert judged(*up_to(stage), how=how, stage=stage) == ("failed", reason)


def test_child_that_fails_to_start_fails_the_experiment():
    assert judged(TensorFlowImported(TensorFlowImport(imported=True)), how="not started: no room") == (
        "failed",
        "the process ended before it requested memory: not started: no room",
    )


def test_timeout_of_the_run_is_not_a_failure():
    assert judged(*up_to("recover"), how="timed out", stage="recover", remaining=0.0) == (
        "timed_out",
        "the time limit was reached",
    )


def test_failed_import_fails_the_experiment():
    imported = TensorFlowImported(TensorFlowImport(imported=False, error="libcudnn.so.9: cannot open"))
    assert judged(imported) == ("failed", "the process did not reach training: libcudnn.so.9: cannot open")


def test_other_exception_fails_the_experiment():
    other = Exhausted(2 * GIB, 0.1, "InternalError", "InternalError: out of memory")
    reason = "requesting 2.0 GiB within gpucheck's own limit of 1.0 GiB does not raise ResourceExhaustedError, but InternalError: out of memory"
    assert judged(LIMIT, other, Recovered(2.5)) == ("failed", reason)


def test_memory_limit_that_is_not_enforced():
    given = (LIMIT, Exhausted(2 * GIB, 0.1), Recovered(2.5))
    words = "2.0 GiB were allocated within gpucheck's own limit of 1.0 GiB"
    assert judged(*given) == ("failed", words)
    assert judged(*given, runs=[run("CPU:0")]) == ("skipped", f"{words}: this system does not enforce it")
    unlimited = LimitSet(2.5, problem="this system sets no limit")
    assert judged(unlimited, runs=[run("CPU:0")]) == ("skipped", "this system sets no limit")


@pytest.mark.parametrize("loss", [2.6, float("nan")])
def test_different_loss_after_recovery_fails_the_experiment(loss):
    status, reason = judged(LIMIT, EXHAUSTED, Recovered(loss))
    assert status == "failed"
    assert reason.endswith("after a caught out-of-memory error, and 2.5 before")


@table
def test_experiment_uses_the_gpu_that_has_trained(device, split, gpu):
    runs = [run("GPU:0", "failed"), run(device)]
    _, asked = made(runs=runs, logical_devices=split)
    assert asked == [ExhaustionTask(gpu)]


@pytest.mark.parametrize("runs", [[], [run(status="failed")], [run(backend="jax")], [run(workers=2)]])
def test_no_experiment_without_a_device_that_trained(runs):
    assert provoke(FakeHost(), runs) == []


def test_tpu_is_skipped():
    (experiment,) = provoke(FakeHost(), [run("TPU:0,TPU:1")])
    assert (experiment.status, experiment.reason) == ("skipped", "TensorFlow can't limit a TPU's memory")


@pytest.mark.parametrize(("level", "names"), [(Level.FULL, ["scaling", "out_of_memory"]), (Level.DEFAULT, ["scaling"])])
def test_training_reports_it_after_the_other_experiments(level, names):
    job = Job("one_device", ("CPU:0",))
    result = Trained(replace(job.planned_run, status="passed"))
    scaling = ("scaling", ExperimentResult(skipped="one device"))
    framework = FakeChild(Planned((job,)), (job.id, result), scaling)
    host = FakeHost(
        children={"framework": framework, "exhaustion": FakeChild(*MESSAGES)},
        request=Request(level=level, strategies=("one_device",)),
    )
    assert [made.name for made in training.read(host).experiments] == names
