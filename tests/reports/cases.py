"""The reports that every format renders."""

import json
import pathlib

import msgspec
from fakes import machine
from fakes import machine as recorded
from reports.builders import PASSED, eight, found, gpu, others, report, rule, with_garbage

from gpucheck.model import (
    Evidence,
    Fix,
    Level,
    ProbeStatus,
    Request,
    Scope,
    Severity,
    Status,
    Verdict,
)
from gpucheck.probes.gpus import Gpu
from gpucheck.probes.tensorflow import Device

CUSOLVER = "/home/user/.venv/lib/python3.12/site-packages/nvidia/cusolver/lib/libcusolver.so.11"


def skipped_at_quick():
    names = ("tensorflow", "keras", "training", "log", "tpu_resolver")
    return dict.fromkeys(names, (ProbeStatus.SKIPPED, "not looked at with --quick", 0.0))


def cusolver():
    return report(
        "h200",
        [
            ("libraries.libraries[4].path", None),
            ("libraries.libraries[4].source", None),
            ("libraries.libraries[4].opened", False),
            ("libraries.libraries[4].elsewhere", [CUSOLVER]),
            ("tensorflow.devices", [{"name": "CPU:0", "kind": "CPU"}]),
            (
                "training.runs",
                [
                    {
                        **PASSED,
                        "devices": ["CPU:0"],
                        "samples_per_second": 191.0,
                        "step_seconds": 0.167,
                        "peak_memory_bytes": None,
                    },
                    {
                        "strategy": "one_device",
                        "devices": ["GPU:0"],
                        "replicas": 1,
                        "precision": "float32",
                        "status": "skipped",
                        "reason": "TensorFlow does not list it",
                    },
                ],
            ),
        ],
        [
            found(
                rule("cuda-libraries-unreachable", explains=("tensorflow-lists-no-gpu",)),
                summary="TensorFlow 2.21.0 lists no GPU: libcusolver.so.11 is installed, but not where its loader looks.",
                evidence=(
                    Evidence(fact="libraries", field="libraries[4].soname", value="libcusolver.so.11"),
                    Evidence(fact="libraries", field="libraries[4].path", value=None),
                    Evidence(fact="libraries", field="libraries[4].elsewhere", value=[CUSOLVER]),
                    Evidence(fact="libraries", field="runpath", value=machine("h200")["libraries"]["runpath"]),
                    Evidence(fact="tensorflow", field="devices", value=(Device(name="CPU:0", kind="CPU"),)),
                ),
                fix=(
                    Fix(
                        text="Name the folder that this release forgets, in every shell that trains.",
                        command=f'export LD_LIBRARY_PATH="{CUSOLVER.rpartition("/")[0]}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"',
                    ),
                    Fix(
                        text="Install a TensorFlow that finds them by itself:",
                        command='/home/user/.venv/bin/python -m pip install "tensorflow[and-cuda]==2.20.*"',
                    ),
                    Fix(text="Ask whoever built the image"),
                    Fix(text="A fourth way that only -v shows"),
                ),
            ),
            found(
                rule("tensorflow-lists-no-gpu"),
                summary="TensorFlow lists 0 of the 1 GPUs that CUDA sees.",
                evidence=(Evidence(fact="tensorflow", field="devices", value=(Device(name="CPU:0", kind="CPU"),)),),
            ),
            found(
                rule("kernel-cache-unwritable", Severity.WARNING, Scope.HOST, row="low-utilization"),
                summary="Compiled kernels can't be kept: /home/user/.nv/ComputeCache is not writable.",
                evidence=(Evidence(fact="limits", field="kernel_cache_writable", value=False),),
                fix=(Fix(text="Give CUDA another folder", command="export CUDA_CACHE_PATH=/tmp/cuda"), Fix(text="Or not")),
            ),
            *others(Status.SKIPPED, 3, "container: unreadable in this example", name="unseen"),
        ],
    )


def eight_passed():
    ones = [{**PASSED, "devices": [f"GPU:{index}"], "samples_per_second": 58600.0} for index in range(8)]
    every = [f"GPU:{index}" for index in range(8)]
    mirrored = {"strategy": "mirrored", "devices": every, "replicas": 8, "replicas_equal": True}
    return eight(runs=[*ones, {**PASSED, **mirrored, "samples_per_second": 431000.0, "step_seconds": 0.019}])


def eight_one_lost():
    runs = [{**PASSED, "devices": [f"GPU:{index}"], "samples_per_second": 58600.0} for index in range(8)]
    runs[3] = {
        "strategy": "one_device",
        "devices": ["GPU:3"],
        "replicas": 1,
        "precision": "float32",
        "status": "failed",
        "stage": "first step",
        "reason": "InternalError: CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered",
    }
    runs.append(
        {
            "strategy": "mirrored",
            "devices": [f"GPU:{index}" for index in (0, 1, 2, 3, 5, 7)],
            "replicas": 6,
            "precision": "float32",
            "status": "timed_out",
            "stage": "steps",
            "reason": "no step within 30 s",
        }
    )
    return eight(
        runs=runs,
        gpus=[gpu(index, **({"problem": "GPU is lost", "result": 15, "name": None} if index == 3 else {})) for index in range(8)],
        judgements=[
            found(
                rule("gpu-lost", scope=Scope.HARDWARE, explains=("training-failed",)),
                summary="GPU 3 has fallen off the bus; the other 7 work.",
                evidence=(
                    Evidence(fact="gpus", field="gpus[3].problem", value="GPU is lost"),
                    Evidence(fact="gpus", field="gpus[3].temperature_celsius", value=91),
                    Evidence(fact="gpus", field="gpus[3].memory_total_bytes", value=150754820096),
                    Evidence(fact="training", field="runs[3].stage", value="first step"),
                ),
                fix=(Fix(text="Reboot this node; if it comes back, have the card replaced", command="sudo reboot"),),
                affects=("GPU 3",),
            ),
            found(
                rule("training-failed", scope=Scope.CODE),
                summary="one_device on GPU:3 failed at its first step.",
                evidence=(Evidence(fact="training", field="runs[3].status", value="failed"),),
                affects=("GPU 3",),
            ),
        ],
    )


def warnings():
    return report(
        "h200",
        judgements=[
            found(
                rule("gpu-throttled", Severity.WARNING, Scope.HARDWARE, row="low-utilization"),
                summary="GPU 0 runs below its clock: it is too hot.",
                evidence=(
                    Evidence(fact="gpus", field="gpus[0].temperature_celsius", value=91),
                    Evidence(fact="gpus", field="gpus[0].clock_event_reasons", value=0x40),
                    Evidence(fact="gpus", field="gpus[0].power_watts", value=412.5),
                ),
                fix=(Fix(text="Look at the airflow and the fans", command="nvidia-smi -q -d PERFORMANCE,TEMPERATURE"),),
                affects=("GPU 0",),
            ),
            found(
                rule("pcie-link-degraded", Severity.WARNING, Scope.HARDWARE, row="low-utilization"),
                summary="GPU 0 is on 4 of its 16 PCIe lanes.",
                evidence=(Evidence(fact="gpus", field="gpus[0].pcie_width", value=4),),
                fix=(Fix(text="Reseat the card, or try another slot"),),
            ),
            *others(Status.SKIPPED, 1, "container: unreadable in this example", name="unseen"),
        ],
    )


def unknown():
    return report(
        "h200",
        judgements=[
            *others(Status.SKIPPED, 12, "tensorflow: did not answer within 120 s", name="unseen"),
            *others(Status.CRASHED, 1, "KeyError: 'devices'", name="broken"),
        ],
        late={
            "tensorflow": (ProbeStatus.TIMED_OUT, "did not answer within 120 s", 120.0),
            "keras": (ProbeStatus.TIMED_OUT, "did not answer within 120 s", 120.0),
            "training": (ProbeStatus.FAILED, "ChildError: the child was killed by SIGKILL before it could train", 3.25),
        },
        clear=61,
        seconds=120.0,
    )


def quick():
    return report(
        "h200",
        judgements=others(Status.SKIPPED, 21, "tensorflow: not looked at with --quick", name="unseen"),
        late=skipped_at_quick(),
        request=Request(level=Level.QUICK),
        clear=56,
        seconds=0.128,
    )


def garbage():
    return report(
        "h200",
        [
            ("gpus.gpus", [gpu(0, name="replaced below")]),
            ("cuda", {"status": "failed", "problem": "no answer"}),
            ("system.os_name", None),
            ("keras", {"imported": False}),
            ("tensorflow.devices", []),
            ("training.runs", []),
        ],
        [
            found(
                rule("compute-mode-exclusive", scope=Scope.HOST),
                summary="GPU 0 has a strange name: replaced below",
                evidence=(
                    Evidence(fact="gpus", field="gpus[0].name", value="replaced below"),
                    Evidence(fact="gpus", field="gpus[9].nothing_bytes", value=None),
                    Evidence(fact="nowhere", field="at.all", value={"a": [1, {"b": 2.5}], "c": None, "d": float("nan")}),
                    Evidence(fact="environment", field="variables.CUDA_VISIBLE_DEVICES", value="replaced below"),
                    Evidence(fact="environment", field="variables.TF_CONFIG", value=None),
                    Evidence(fact="driver", field="gpu_count", value=True),
                    Evidence(fact="gpus", field="gpus", value=(Gpu(index=0, memory_total_bytes=5),) * 40),
                    Evidence(fact="driver", field="problem", value="x" * 500),
                ),
                fix=(Fix(text="Call it by another name: replaced below", command="echo replaced below"),),
                affects=tuple(f"GPU {index}" for index in range(40)),
            )
        ],
        seconds=1234.5,
    )


def strict():
    return msgspec.structs.replace(warnings(), exit_code=1)


def muted():
    """A muted cause: what follows from it counts; and a mute that is over."""
    made = cusolver()
    cause, warning, follower = made.findings
    cause = msgspec.structs.replace(cause, muted="the image is being rebuilt until 2999-12-31")
    warning = msgspec.structs.replace(warning, mute_expired="ticket 4711 until 2020-01-01")
    return msgspec.structs.replace(made, findings=(cause, warning, follower))


def all_muted():
    made = warnings()
    findings = tuple(msgspec.structs.replace(each, muted="known until 2999-12-31") for each in made.findings)
    return msgspec.structs.replace(made, findings=findings, verdict=Verdict.PASS)


def side_by_side():
    """Devices that trained at the same time, each under the others' load."""
    alone = {**PASSED, "trained_with": 0}
    return report(
        "h200", [("training.runs", [alone, *({**PASSED, "devices": [f"GPU:{n}"], "trained_with": 3} for n in (1, 2, 3))])]
    )


CASES = {
    "pass-h200": lambda: report("h200", judgements=others(Status.SKIPPED, 3, "no TPU is expected here", name="unseen")),
    "pass-cpu": lambda: report("laptop-cpu", seconds=9.31),
    "pass-8-gpus": eight_passed,
    "fail-cusolver": cusolver,
    "fail-gpu-3": eight_one_lost,
    "quick": quick,
    "unknown": unknown,
    "warnings": warnings,
    "strict": strict,
    "side-by-side": side_by_side,
    "muted": muted,
    "all-muted": all_muted,
    "garbage": lambda: with_garbage(garbage()),
}


def situation(machine="h200", changes=(), runs=None, each_run=None, experiments=None, findings=(), late=None, request=None):
    """A report of ``situations.json``: a recorded machine with changes, its training jobs as changes of one that passed."""
    changes = dict(changes)
    if runs is not None:
        changes["training.runs"] = [{**PASSED, **run} for run in runs]
    if each_run is not None:
        changes["training.runs"] = [{**run, **each_run} for run in recorded(machine)["training"]["runs"]]
    if experiments is not None:
        changes["training.experiments"] = experiments
    judged = []
    for finding in findings:
        severity = Severity(finding.get("severity", "error"))
        evidence = (Evidence(fact=finding["evidence"], field="x", value=1),) if "evidence" in finding else ()
        affects = tuple(finding.get("affects", ()))
        judged.append(found(rule(finding.get("code", "blamed"), severity), summary="It.", evidence=evidence, affects=affects))
    silent = {probe: (ProbeStatus(status), problem, 1.0) for probe, (status, problem) in (late or {}).items()}
    asked = None if request is None else Request(**{**request, "level": Level(request.get("level", 1))})
    return report(machine, changes.items(), judged, late=silent, request=asked)


SITUATIONS = json.loads((pathlib.Path(__file__).parent / "situations.json").read_text(encoding="utf-8"))
