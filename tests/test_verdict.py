"""What keeps a machine from being called healthy, in the words that the report uses: a table of facts and gaps."""

import pytest

from gpucheck.core.engine.facts import Facts
from gpucheck.core.engine.verdict import decide
from gpucheck.core.model import Level, Outcome, ProbeStatus, Reading, Request, Status, TrainingRun
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.probes.training import Training

QUICK, DEFAULT, NODE = (Request(allow_cpu=True, level=level) for level in (Level.QUICK, Level.DEFAULT, Level.NODE))
JAX = Backend(name="jax", source="KERAS_BACKEND", imported=True, devices=())
LATE = TensorFlow(ending="timed out")


def ok(**facts):
    return [Reading(probe=name, status=ProbeStatus.OK, fact=fact) for name, fact in facts.items()]


def failed(*problems):
    return [Reading(probe=f"p{number}", status=ProbeStatus.FAILED, problem=text) for number, text in enumerate(problems)]


def gaps(request, readings, outcomes=()):
    return decide(request, Facts(readings), (), outcomes).unknown_because


def trained(*runs, **fields):
    return ok(training=Training(runs=tuple(runs), **fields))


def run(number, **fields):
    return TrainingRun(strategy="one_device", devices=(f"GPU:{number}",), replicas=1, precision="float32", **fields)


def refused(code):
    return ok(driver=Driver(status="failed", result=code, result_name=f"NVML_{code}"))


REFUSED = "driver: NVML answers NVML_4 (4), so a GPU may be here"
NEVER = "training one_device on GPU:0"
TABLE = {
    "nothing": (QUICK, [], ()),
    "a driver that refuses": (QUICK, refused(4), (REFUSED,)),
    "a driver that refuses, and a GPU": (QUICK, [*refused(4), *ok(cuda=Cuda(status="ok", device_count=1))], ()),
    **{f"NVML's {code}": (QUICK, refused(code), ()) for code in (6, 9, 12, 13, 28)},
    "probes that fail alike": (QUICK, failed(*["it"] * 6), ("it",)),
    "fewer of them": (QUICK, failed(*["it"] * 5), tuple(f"p{number}: it" for number in range(5))),
    "as many, each otherwise": (QUICK, failed(*"abcdef"), tuple(f"p{number}: {text}" for number, text in enumerate("abcdef"))),
    "CUDA of a node": (NODE, ok(gpus=Gpus(gpus=(Gpu(index=0),)), cuda=Cuda(status="failed", result_name="X")),
                       ("CUDA: X, and no rule can say why",)),
    "CUDA of an environment": (QUICK, ok(gpus=Gpus(gpus=(Gpu(index=0),)), cuda=Cuda(status="failed", result_name="X")), ()),
    "no TensorFlow, and none missed": (DEFAULT, [*ok(tensorflow=TensorFlow(), backend=JAX, packages=Packages()), *trained(run(0, status="passed"))],
                                       ()),
    "a TensorFlow that does not answer, and is not used": (
        DEFAULT, [*ok(tensorflow=TensorFlow(), backend=JAX, packages=Packages(tensorflow="2.21.0")), *trained(run(0, status="passed"))],
        ("TensorFlow's device list was not reached: no answer",)),
    "no time for the import": (DEFAULT, [*ok(tensorflow=TensorFlow(ending="timed out", stage="import")), *trained(run(0, status="passed"))],
                               ("time ran out (120 s) while importing TensorFlow. Try --timeout 240",)),
    "no time before it": (DEFAULT, [*ok(tensorflow=LATE), *trained(run(0, status="passed"))],
                          ("time ran out (120 s) before TensorFlow listed its devices. Try --timeout 240",)),
    "nothing trained": (DEFAULT, trained(ending="killed"), ("nothing was trained: killed",)),
    "all skipped": (DEFAULT, trained(run(0, status="skipped", reason="x")), ("nothing was trained: no run was possible",)),
    "one failed": (DEFAULT, trained(run(0, status="failed")), ()),
    "one ran out of time": (DEFAULT, trained(run(0, status="timed_out", stage="train")), (f"{NEVER}: out of time",)),
    "one never began": (DEFAULT, trained(run(0, status="timed_out")), (f"{NEVER}: out of time",)),
    "three never began": (DEFAULT, trained(*(run(number, status="timed_out") for number in range(3))), (f"{NEVER} and 2 more: out of time",)),
    "no training observed": (DEFAULT, [], ("nothing was trained: not observed",)),
}  # fmt: skip


@pytest.mark.parametrize(("request_", "readings", "expected"), TABLE.values(), ids=TABLE)
def test_gaps(request_, readings, expected):
    assert gaps(request_, readings) == expected


@pytest.mark.parametrize(("count", "rules"), [(1, "rule a"), (3, "rule a and 2 more")])
def test_rules_that_crash_alike_are_told_together(count, rules):
    outcomes = [Outcome(code=code, status=Status.CRASHED, reason="bug") for code in "abc"[:count]]
    assert gaps(QUICK, [], outcomes) == (f"the {rules} crashed (bug); please report it",)
