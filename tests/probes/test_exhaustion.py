"""An out-of-memory on purpose: what is concluded from how the child fared."""

import pytest
from experiments.page import differences
from fakes import FakeChild, FakeHost

from gpucheck.child.plan import planned
from gpucheck.model import Level, Request, TrainingRun
from gpucheck.probes import training
from gpucheck.probes._exhaustion import provoke

GIB = 1 << 30
WORDS = "ResourceExhaustedError: OOM when allocating tensor"
BUILD = {"limit_bytes": GIB, "problem": None, "loss": 2.5}
EXHAUST = {"asked_bytes": 2 * GIB, "error": "ResourceExhaustedError", "words": WORDS, "seconds": 10.1}
STAGES = {"import": {"imported": True}, "keras": {"imported": True}, "build": BUILD, "exhaust": EXHAUST, "recover": {"loss": 2.5}}


class Host(FakeHost):
    """Remembers what its children were asked."""

    asked: tuple[str, ...] = ()

    def child(self, name, *args, limit=30.0):
        self.asked = args
        return super().child(name, *args, limit=limit)


def run(device="GPU:0", status="passed", **more):
    devices = tuple(device.split(","))
    return TrainingRun(strategy="one_device", devices=devices, replicas=len(devices), precision="float32", status=status, **more)


GPU = (run(),)


def made(stages=STAGES, runs=GPU, how="finished", stage=None, remaining=60.0, **request):
    child = FakeChild(stages, how=how, stage=stage)
    host = Host(children={"exhaustion": child}, remaining=remaining, request=Request(**request))
    (experiment,) = provoke(host, runs)
    return experiment, host.asked


def judged(*arguments, **more):
    experiment, _ = made(*arguments, **more)
    return experiment.status, experiment.reason


def changed(**stages):
    return {name: {**value, **stages.get(name, {})} for name, value in STAGES.items()}


def up_to(stage):
    names = list(STAGES)
    return {name: STAGES[name] for name in names[: names.index(stage)]}


def test_caught_and_recovered():
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


@pytest.mark.parametrize(
    ("stage", "how", "reason"),
    [
        ("exhaust", "killed by SIGKILL", "the process ended when it asked for more memory than there is: killed by SIGKILL"),
        (
            "recover",
            "InternalError: cuDNN",
            "the process ended when it trained again, after an out-of-memory that it had caught: InternalError: cuDNN",
        ),
        ("build", "exited with status 3", "the process ended before it asked for anything: exited with status 3"),
        ("exhaust", "timed out", "the process hung when it asked for more memory than there is"),
    ],
)
def test_a_child_that_does_not_live_through_it(stage, how, reason):
    assert judged(up_to(stage), how=how, stage=stage) == ("failed", reason)


def test_a_child_that_could_not_be_started():
    assert judged({}, how="not started: no room") == (
        "failed",
        "the process ended before it asked for anything: not started: no room",
    )


def test_the_end_of_the_whole_run_is_no_fault():
    assert judged(up_to("recover"), how="timed out", stage="recover", remaining=0.0) == ("timed_out", "out of time")


def test_a_framework_that_no_longer_imports():
    stages = {"import": {"imported": False, "error": "libcudnn.so.9: cannot open"}}
    assert judged(stages) == ("failed", "the process did not come to train: libcudnn.so.9: cannot open")


def test_another_exception_is_not_what_programs_catch():
    stages = changed(exhaust={"error": "InternalError", "words": "InternalError: out of memory"})
    reason = "asking for 2.0 GiB within gpucheck's own limit of 1.0 GiB does not raise ResourceExhaustedError, but InternalError: out of memory"
    assert judged(stages) == ("failed", reason)


def test_a_gpu_whose_limit_does_not_hold():
    given = changed(exhaust={"error": None, "words": None})
    assert judged(given) == ("failed", "2.0 GiB were given within gpucheck's own limit of 1.0 GiB")


def test_a_system_that_enforces_no_limit():
    given = changed(exhaust={"error": None, "words": None})
    reason = "2.0 GiB were given within gpucheck's own limit of 1.0 GiB: this system does not enforce it"
    assert judged(given, [run("CPU:0")]) == ("skipped", reason)


def test_a_system_without_limits():
    stages = {**up_to("build"), "build": {"limit_bytes": None, "problem": "this system sets no limit", "loss": 2.5}}
    assert judged(stages, [run("CPU:0")]) == ("skipped", "this system sets no limit")


@pytest.mark.parametrize("loss", [2.6, float("nan")])
def test_another_loss_afterwards(loss):
    status, reason = judged(changed(recover={"loss": loss}))
    assert status == "failed"
    assert reason.endswith("after an out-of-memory that was caught, and 2.5 before")


@pytest.mark.parametrize(
    ("device", "split", "gpu"),
    [("CPU:3", 0, "null"), ("GPU:3", 0, "3"), ("GPU:3", 1, "3"), ("GPU:3", 2, "1"), ("GPU:1,GPU:2", 0, "1")],
)
def test_the_gpu_is_the_one_that_has_trained(device, split, gpu):
    runs = [run("GPU:0", "failed"), run(device)]
    _, asked = made(runs=runs, logical_devices=split)
    assert asked == (f'{{"gpu": {gpu}}}',)


@pytest.mark.parametrize("runs", [[], [run(status="failed")], [run(backend="jax")], [run(workers=2)]])
def test_without_a_device_that_trains_nothing_is_tried(runs):
    assert provoke(FakeHost(), runs) == []


def test_a_tpu_has_no_limit():
    (experiment,) = provoke(FakeHost(), [run("TPU:0,TPU:1")])
    assert (experiment.status, experiment.reason) == ("skipped", "TensorFlow can't limit a TPU's memory")


@pytest.mark.parametrize(("level", "names"), [(Level.FULL, ["scaling", "out_of_memory"]), (Level.DEFAULT, ["scaling"])])
def test_training_tells_of_it_after_the_other_experiments(level, names):
    plan = planned("one_device", ("CPU:0",), "float32")
    done = {"strategy": "one_device", "devices": ["CPU:0"], "replicas": 1, "precision": "float32", "status": "passed"}
    scaling = {"name": "scaling", "status": "skipped", "reason": "one device"}
    framework = FakeChild({"plan": [plan], plan["stage"]: done, "experiment scaling": scaling})
    host = FakeHost(
        children={"framework": framework, "exhaustion": FakeChild(STAGES)},
        request=Request(level=level, strategies=("one_device",)),
    )
    assert [made.name for made in training.read(host).experiments] == names
