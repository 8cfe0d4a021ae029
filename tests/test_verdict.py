"""Gaps that prevent the verdict "healthy": a table of facts and the wording of their gaps."""

import msgspec
import pytest

from gpucheck.commands.explain.log import explain
from gpucheck.core.engine.discovery import load_rules
from gpucheck.core.engine.verdict import decide
from gpucheck.core.model import (
    Diagnosis,
    Evidence,
    Level,
    Outcome,
    ProbeStatus,
    Reading,
    Request,
    Scope,
    Severity,
    Status,
    TrainingRun,
    Verdict,
)
from gpucheck.core.model.fact import Facts
from gpucheck.core.model.findings import FOLDER, LIMIT, OF_PROCESS
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.cuda import Cuda, CudaDevice
from gpucheck.core.probes.device_nodes import DeviceNode, DeviceNodes
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.kernel_log import KernelLog
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.pci import Pci, PciFunction
from gpucheck.core.probes.tensorflow import Device, TensorFlow
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.probes.training import Training

QUICK, DEFAULT, NODE = (Request(allow_cpu=True, level=level) for level in (Level.QUICK, Level.DEFAULT, Level.NODE))
JAX = Backend(name="jax", source="KERAS_BACKEND", imported=True, devices=())
CPU = Device(name="CPU:0", kind="CPU")
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


ON_BUS = ok(
    pci=Pci(readable=True, gpus=(PciFunction(address="0000:01:00.0", vendor_id="0x10de", device_id="0x2335"),)),
    container=Container(inside=False),
)
TPU = ok(tpu=Tpu(generations=("v5e",), nodes=("/dev/vfio/0",), libtpu="0.0.43.2"))
CPU_ONLY = ok(tensorflow=TensorFlow(devices=(CPU,)))
UNOPENED = DeviceNodes(
    control=DeviceNode(path="/dev/nvidiactl", present=True),
    uvm=DeviceNode(path="/dev/nvidia-uvm", present=True),
    ending="SyntaxError: null bytes",
)
STRICT = Request(allow_cpu=True, level=Level.NODE, strict=True)
UNREAD = KernelLog(readable=False, problem="dmesg: timed out")
REFUSED = "driver: NVML returns NVML_4 (4), so the state of its GPUs is not known"
NEVER = "training one_device on GPU:0"
TABLE = {
    "nothing": (QUICK, [], ()),
    "a driver that refuses": (QUICK, refused(4), (REFUSED,)),
    "a driver that refuses, and a GPU": (QUICK, [*refused(4), *ok(cuda=Cuda(status="ok", device_count=1))], ()),
    "a driver of a node that refuses, and a GPU": (NODE, [*refused(4), *ok(cuda=Cuda(status="ok", device_count=1))], (REFUSED,)),
    "a GPU of a node that NVML does not describe": (NODE, ok(gpus=Gpus(gpus=(Gpu(index=1, problem="Unknown", result=4),))),
                                                    ("GPU 1: NVML returns Unknown (4), so its state is not known",)),
    **{f"NVML's {code}": (QUICK, refused(code), ()) for code in (6, 9, 12, 13, 28)},
    "no accelerator": (Request(level=Level.QUICK), [], ("no accelerator was detected, and no rule explains why",)),
    "a TPU that no framework was queried for": (Request(level=Level.QUICK), TPU, ()),
    "a TPU that the framework does not list": (Request(level=Level.QUICK), [*TPU, *CPU_ONLY],
                                               ("/dev/vfio/0 shows a TPU, the framework lists none, and no rule explains why",)),
    "probes that fail alike": (QUICK, failed(*["it"] * 6), ("it",)),
    "fewer of them": (QUICK, failed(*["it"] * 5), tuple(f"p{number}: it" for number in range(5))),
    "as many, each otherwise": (QUICK, failed(*"abcdef"), tuple(f"p{number}: {text}" for number, text in enumerate("abcdef"))),
    "CUDA of a node": (NODE, ok(gpus=Gpus(gpus=(Gpu(index=0),)), cuda=Cuda(status="failed", result_name="X")),
                       ("CUDA: X, so CUDA could not be checked",)),
    "device files of a node": (NODE, ok(device_nodes=UNOPENED), ("The device files were not opened: SyntaxError: null bytes",)),
    "device files of an environment": (QUICK, ok(device_nodes=UNOPENED), ()),
    "the log of a node": (NODE, ok(kernel_log=UNREAD), ()),
    "the log of a node, with --strict": (STRICT, ok(kernel_log=UNREAD),
                                         ("The kernel log was not read completely: dmesg: timed out",)),
    "memory errors that NVML does not return": (STRICT, ok(gpus=Gpus(gpus=(Gpu(index=0, ecc_enabled=True),))),
                                                ("GPU 0: its memory errors could not be read",)),
    "memory errors that are not counted": (STRICT, ok(gpus=Gpus(gpus=(Gpu(index=0, ecc_enabled=False), Gpu(index=1)))), ()),
    "a device that CUDA does not describe": (STRICT, ok(cuda=Cuda(status="ok", device_count=1, devices=(CudaDevice(ordinal=0),))),
                                             ("CUDA counts device 0, but does not describe it",)),
    "a log without its start": (STRICT, ok(kernel_log=KernelLog(readable=True, problem="its oldest messages were overwritten")), ()),
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
    "one ran out of time": (DEFAULT, trained(run(0, status="timed_out", stage="train")), (f"{NEVER}: the time limit was reached",)),
    "one never began": (DEFAULT, trained(run(0, status="timed_out")), (f"{NEVER}: the time limit was reached",)),
    "three never began": (DEFAULT, trained(*(run(number, status="timed_out") for number in range(3))), (f"{NEVER} and 2 more: the time limit was reached",)),
    "GPUs of the driver that TensorFlow does not list": (QUICK, [*ok(driver=Driver(status="ok", gpu_count=2)), *CPU_ONLY],
                                                         ("the driver shows 2 GPUs, the framework lists none, and no rule explains why",)),
    "a GPU of the bus that JAX does not list": (QUICK, [*ON_BUS, *ok(backend=msgspec.structs.replace(JAX, devices=(CPU,)))],
                                                ("the PCI bus shows 1 GPU, the framework lists none, and no rule explains why",)),
    "a GPU of the container's host": (QUICK, [*ON_BUS[:1], *ok(container=Container(inside=True)), *CPU_ONLY], ()),
    "GPUs hidden on purpose": (QUICK, [*ok(driver=Driver(status="ok", gpu_count=2), cuda=Cuda(status="failed", result=100)), *CPU_ONLY], ()),
    "a TPU alone was requested": (Request(level=Level.QUICK, strategies=("tpu",)), [*ON_BUS, *CPU_ONLY], ()),
    "a GPU that is listed": (QUICK, [*ON_BUS, *ok(tensorflow=TensorFlow(devices=(CPU, Device(name="GPU:0", kind="GPU"))))], ()),
    "no training observed": (DEFAULT, [], ("nothing was trained: not observed",)),
}  # fmt: skip


@pytest.mark.parametrize(("request_", "readings", "expected"), TABLE.values(), ids=TABLE)
def test_gaps_of_a_verdict(request_, readings, expected):
    assert gaps(request_, readings) == expected


@pytest.mark.parametrize(
    ("request_", "severity", "verdict"),
    [
        (NODE, Severity.ERROR, Verdict.UNKNOWN),
        (NODE, Severity.WARNING, Verdict.WARN),
        (QUICK, Severity.ERROR, Verdict.FAIL),
    ],
)
@pytest.mark.parametrize("code", OF_PROCESS)
def test_limit_of_this_process_is_not_a_fault_of_the_node(request_, severity, verdict, code):
    fields = {"row": "", "summary": "It is low.", "evidence": (), "first_check": "", "fix": (), "scope": Scope.HOST}
    finding = Diagnosis(code=code, severity=severity, **fields)
    decision = decide(request_, Facts([]), (finding,), ())
    assert (decision.verdict, decision.unknown_because) == (verdict, ("It is low.",) * (verdict is Verdict.UNKNOWN))
    assert code in {rule.code for rule in load_rules()}
    strict = decide(msgspec.structs.replace(request_, strict=True), Facts([]), (finding,), ())
    assert strict.exit_code == (0 if verdict is Verdict.WARN else decision.exit_code)


@pytest.mark.parametrize(("count", "rules"), [(1, "rule a"), (3, "rule a and 2 more")])
def test_rules_with_the_same_crash_are_reported_together(count, rules):
    outcomes = [Outcome(code=code, status=Status.CRASHED, reason="bug") for code in "abc"[:count]]
    assert gaps(QUICK, [], outcomes) == (f"the {rules} crashed (bug); please report it",)


def test_log_without_a_failure_gives_no_verdict():
    lines = ["Created device /job:localhost/replica:0/task:0/device:GPU:0 with 77536 MB memory", "Epoch 1/3"]
    report = explain([("", lines)], "test")
    assert (report.verdict, report.unknown_because[0][:27]) == ("unknown", "a log without a known failu")


def test_missing_folder_of_this_process_does_not_hide_a_node_fault():
    fields = {"row": "", "evidence": (), "first_check": "", "fix": (), "scope": Scope.HOST, "severity": Severity.ERROR}
    findings = [Diagnosis(code=code, summary=code, **fields) for code in (FOLDER, "gpu-lost")]
    assert decide(NODE, Facts([]), findings, ()).verdict is Verdict.FAIL
    assert decide(NODE, Facts([]), findings[:1], ()).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("code", "fact", "verdict"),
    [
        ("gpu-lost", "gpus", Verdict.FAIL),
        ("gpu-lost", "kernel_log", Verdict.FAIL),
        ("ecc-errors", "gpus", Verdict.FAIL),
        ("gpu-lost", "driver", Verdict.UNKNOWN),  # NVML does not list it, possibly because of a limit
        ("cuda-init-failed", "gpus", Verdict.UNKNOWN),
    ],
)
def test_limit_of_this_process_does_not_hide_a_proven_fault(code, fact, verdict):
    fields = {"row": "", "first_check": "", "fix": (), "scope": Scope.HOST, "severity": Severity.ERROR}
    evidence = (Evidence(fact=fact, field="x", value=1),)
    findings = [Diagnosis(code=name, summary=name, evidence=evidence, **fields) for name in (LIMIT, code)]
    assert decide(NODE, Facts([]), findings, ()).verdict is verdict
