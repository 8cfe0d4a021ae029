"""The reports that every format renders: those of ``reports.json``, some with changes that JSON can't express; and situations."""

import functools
import json
import pathlib
from typing import Any

import msgspec
from fakes import machine as recorded
from reports.builders import PASSED, found, gpu, others, report, rule, with_garbage

from gpucheck.core.model import Evidence, Fix, ProbeStatus, Request, Scope, Severity, Status, Verdict
from gpucheck.core.probes.gpus import Gpu
from gpucheck.core.probes.tensorflow import Device


def situation(
    machine="h200", changes=(), runs=None, each_run=None, experiments=None, gpus=None, findings=(), others=(), late=None, request=None,
    **figures,
):  # fmt: skip
    """A recorded machine with changes. A job and a GPU have only differences from a passed one; an ``alone`` job has all fields."""
    changes = dict(changes)
    if gpus is not None:
        devices = [{"name": "CPU:0", "kind": "CPU"}, *({"name": f"GPU:{index}", "kind": "GPU"} for index in range(len(gpus)))]
        counts = dict.fromkeys(("driver.gpu_count", "cuda.device_count"), len(gpus))
        changes |= {"gpus.gpus": [gpu(index, **own) for index, own in enumerate(gpus)], "tensorflow.devices": devices, **counts}
    if runs is not None:
        changes["training.runs"] = [job(**run) for run in runs]
    if each_run is not None:
        changes["training.runs"] = [{**run, **each_run} for run in recorded(machine)["training"]["runs"]]
    if experiments is not None:
        changes["training.experiments"] = experiments
    judged = [judgement(**finding) for finding in findings] + [other for counted in others for other in unfound(*counted)]
    silent = {
        probe: (ProbeStatus(status), problem, *(spent or [1.0])) for probe, (status, problem, *spent) in (late or {}).items()
    }
    asked = None if request is None else msgspec.convert(request, Request)
    return report(machine, changes.items(), judged, late=silent, request=asked, **figures)


def job(alone=False, **run):
    """A training job."""
    return run if alone else {**PASSED, **run}


def unfound(status, count, reason, name):
    """Outcomes of rules without findings."""
    return others(Status(status), count, reason, name=name)


def judgement(code="blamed", summary="It.", evidence=(), fix=(), affects=(), explains=(), **more):
    """A finding; ``evidence`` may be just the name of a fact."""
    severity, scope = Severity(more.get("severity", "error")), Scope(more.get("scope", "environment"))
    made = rule(code, severity, scope, explains=explains, row=more.get("row", "gpu-not-detected"))
    shown = [(evidence, "x", 1)] if isinstance(evidence, str) else evidence
    kinds = {("tensorflow", "devices"): tuple[Device, ...]}
    return found(
        made,
        summary=summary,
        evidence=tuple(
            Evidence(fact=fact, field=field, value=msgspec.convert(value, kinds.get((fact, field), Any)))
            for fact, field, value in shown
        ),
        fix=tuple(Fix(text=text, command=next(iter(command), None)) for text, *command in fix),
        affects=tuple(affects),
    )


def read(name):
    return json.loads((pathlib.Path(__file__).parent / name).read_text(encoding="utf-8"))


SITUATIONS = read("situations.json")
REPORTS = {name: functools.partial(situation, **described) for name, described in read("reports.json").items()}
cusolver = REPORTS["fail-cusolver"]


def garbage():
    """Names with control characters, and values of every kind."""
    changes = [
        ("gpus.gpus", [gpu(0, name="replaced below")]),
        ("cuda", {"status": "failed", "problem": "no answer"}),
        ("system.os_name", None),
        ("keras", {"imported": False}),
        ("tensorflow.devices", []),
        ("training.runs", []),
    ]
    strange = judgement(
        "compute-mode-exclusive",
        "GPU 0 has a strange name: replaced below",
        scope="host",
        evidence=[
            ("gpus", "gpus[0].name", "replaced below"),
            ("gpus", "gpus[9].nothing_bytes", None),
            ("nowhere", "at.all", {"a": [1, {"b": 2.5}], "c": None, "d": float("nan")}),
            ("environment", "variables.CUDA_VISIBLE_DEVICES", "replaced below"),
            ("environment", "variables.TF_CONFIG", None),
            ("driver", "gpu_count", True),
            ("gpus", "gpus", (Gpu(index=0, memory_total_bytes=5),) * 40),
            ("driver", "problem", "x" * 500),
        ],
        fix=[("Call it by another name: replaced below", "echo replaced below")],
        affects=[f"GPU {index}" for index in range(40)],
    )
    return with_garbage(report("h200", changes, [strange], seconds=1234.5))


def strict():
    return msgspec.structs.replace(REPORTS["warnings"](), exit_code=1)


def muted():
    """A muted cause, whose consequences still count, and an expired mute."""
    made = cusolver()
    cause, warning, follower = made.findings
    cause = msgspec.structs.replace(cause, muted="the image is being rebuilt until 2999-12-31")
    warning = msgspec.structs.replace(warning, mute_expired="ticket 4711 until 2020-01-01")
    return msgspec.structs.replace(made, findings=(cause, warning, follower))


def all_muted():
    made = REPORTS["warnings"]()
    findings = tuple(msgspec.structs.replace(each, muted="known until 2999-12-31") for each in made.findings)
    return msgspec.structs.replace(made, findings=findings, verdict=Verdict.PASS)


CASES = {**REPORTS, "strict": strict, "muted": muted, "all-muted": all_muted, "garbage": garbage}
