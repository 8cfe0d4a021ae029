"""Machines with something broken below TensorFlow, judged by all rules: for the decisions between neighbours."""

from fakes import facts
from one_rule import RULES
from one_rule import changed as changed_plain

from gpucheck.engine.facts import Facts
from gpucheck.engine.pipeline import fold, judge
from gpucheck.engine.plugin import load_rows
from gpucheck.model import Diagnosis, Outcome, Status

ROWS = load_rows()

# Parts of a broken machine: paths into its facts and what stands there.
HOST = {"container": {"inside": False}}
BLIND = {"tensorflow.devices": [{"name": "CPU:0", "kind": "CPU"}], "tensorflow.memory_growth": {}, "training.runs": []}
NO_NODES = {
    "device_nodes": {
        "control": {"path": "/dev/nvidiactl", "present": False},
        "uvm": {"path": "/dev/nvidia-uvm", "present": False},
    }
}
NO_LIBRARIES = {
    "driver": {"status": "library-not-found"},
    "gpus.gpus": [],
    "cuda": {"status": "library-not-found"},
}
NO_MODULE = {"loaded": False, "uvm_loaded": False, "nouveau_loaded": False, "installed_for_running_kernel": False}
NOTHING_INSTALLED = {**NO_NODES, **NO_LIBRARIES, "kernel_module": NO_MODULE, "pci.gpus[0].kernel_driver": None}


def cuda(result, name="CUDA_ERROR_UNKNOWN", **more):
    """cuInit fails."""
    return {"cuda": {"status": "failed", "result": result, "result_name": name, "driver_version": "13.0", **more}}


def nvml(result, name, **more):
    """nvmlInit fails."""
    return {"driver": {"status": "failed", "result": result, "result_name": name, **more}, "gpus.gpus": []}


NO_DEVICE = cuda(100, "CUDA_ERROR_NO_DEVICE")
NVML_NOT_LOADED = nvml(9, "NVML_ERROR_DRIVER_NOT_LOADED")
PASCAL = {
    **nvml(28, "NVML_ERROR_GPU_NOT_FOUND"),
    **NO_DEVICE,
    "pci.gpus[0].kernel_driver": None,
    "pci.gpus[0].device_id": "0x1b06",
    "kernel_module.gpu_addresses": [],
    "device_nodes.gpus": [],
}  # on the open kernel module, which knows no GPU before Turing


def changed(*changes, name="h200", quick=False) -> Facts:
    """The machine's facts with these changes, the last one winning; ``quick`` leaves TensorFlow's part out."""
    merged = {path: value for change in changes for path, value in change.items()}
    return facts(changed_plain(merged, name, quick=quick))


def roots(*changes, name="h200", quick=False) -> list[Diagnosis]:
    """The unexplained findings, root cause first."""
    judgements = judge(changed(*changes, name=name, quick=quick), RULES.values())
    crashed = [(item.rule.code, item.outcome.reason) for item in judgements if item.outcome.status is Status.CRASHED]
    assert crashed == []
    return [finding for finding in fold(judgements, ROWS) if not finding.explained_by]


def codes(*changes, name="h200", quick=False) -> list[str]:
    """Their codes."""
    return [finding.code for finding in roots(*changes, name=name, quick=quick)]


def outcome(code, *changes, name="h200", quick=False) -> Outcome:
    """What one rule alone makes of it."""
    (judgement,) = judge(changed(*changes, name=name, quick=quick), [RULES[code]])
    return judgement.outcome
