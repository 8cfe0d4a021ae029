"""Machines that are easier to build in code than as a list of changes."""

import json
import pathlib

import pytest
from case_files import table
from fakes import facts, machine
from one_rule import changed, found, only_log, roots, status

from gpucheck.core.engine.discovery import load_rules
from gpucheck.core.engine.verdict import decide
from gpucheck.core.logs import causes
from gpucheck.core.logs.log import Log
from gpucheck.core.model import Request, Severity, Status

HGX = "hgx-h200"


@pytest.mark.parametrize("code", [rule.code for rule in load_rules() if rule.tensorflow])
def test_tensorflow_is_not_checked_with_backend_jax(code):
    on_jax = {"name": "jax", "source": "--backend", "imported": True, "version": "0.10.2", "built_with_cuda": True}
    plain = changed({"request.backend": "jax", "backend": on_jax, "keras.backend": "jax", "keras.backend_source": "--backend"})
    assert status(code, plain) is Status.SKIPPED


def test_recorded_h100_is_healthy():
    report = json.loads((pathlib.Path(__file__).parents[2] / "docs/measured/h100/reports/healthy.json").read_text())
    assert roots(report["facts"]) == []
    assert decide(facts(report["facts"]).get(Request), facts(report["facts"]), (), ()).exit_code == 0


def test_lost_gpu_is_named_among_two():
    plain = machine("h200")
    plain["container"] = {"inside": False}
    plain["pci"]["gpus"].append({**plain["pci"]["gpus"][0], "address": "0000:00:07.0"})
    plain["gpus"]["gpus"].append({"index": 1, "problem": "GPU is lost", "result": 15, "pci_address": "0000:00:07.0"})
    assert roots(plain) == ["gpu-lost"]
    finding = found("gpu-lost", plain)
    assert finding.summary == "GPU 1 at 0000:00:07.0 no longer responds to its driver: GPU is lost."
    assert finding.affects == ("GPU 1",)


@pytest.mark.parametrize(("result", "exit_code"), [(9, 0), (28, 0), (4, 3), (999, 3)])
def test_verdict_without_any_gpu_depends_on_the_nvml_error(result, exit_code):
    changes = {
        "container": {"inside": False},
        "pci.gpus": [],
        "gpus.gpus": [],
        "device_nodes": {node: {"path": "/dev/x", "present": False} for node in ("control", "uvm")},
        "kernel_module": {"loaded": False, "uvm_loaded": False, "nouveau_loaded": False, "installed_for_running_kernel": False},
        "cuda": {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE"},
        "driver": {"status": "failed", "result": result},
        "request.allow_cpu": True,
    }
    known = facts(changed(changes, quick=True))
    decision = decide(known.get(Request), known, (), ())
    assert decision.exit_code == exit_code
    assert exit_code == 0 or f"({result})" in decision.unknown_because[0]


def test_xid_of_a_gpu_outside_the_container_is_ignored():
    plain = changed(name=HGX)
    other = plain["gpus"]["gpus"][5]["pci_address"]
    event = {"code": 79, "device": other, "time": "2026-03-01T09:00:00Z", "text": f"NVRM: Xid (PCI:{other[:-2]}): 79, "}
    plain["kernel_log"] = {"readable": True, "source": "dmesg", "events": [event], "nvrm": []}
    plain["gpus"]["gpus"] = plain["gpus"]["gpus"][:2]
    assert status("gpu-lost", plain) is Status.FOUND
    plain["container"] = {"inside": True, "kind": "docker"}
    assert status("gpu-lost", plain) is Status.CLEAR


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ((4, 4), Status.CLEAR),
        ((2, 2), Status.CLEAR),  # one bridge of two
        ((2, 1), Status.FOUND),
        ((0, 0), Status.CLEAR),
        ((2,), Status.SKIPPED),
    ],
)
def test_nvlinks_without_a_switch_are_compared_with_each_other(links, expected):
    plain = changed({"pci.nvswitches": []}, HGX)
    plain["gpus"]["gpus"] = plain["gpus"]["gpus"][: len(links)]
    for gpu, count in zip(plain["gpus"]["gpus"], links, strict=True):
        gpu["fabric_state"] = "not-supported"
        gpu["nvlinks"] = [{"link": link, "active": link < count} for link in range(4)]
    assert status("nvlink-down", plain) is expected


def test_held_memory_is_an_error_if_only_other_gpus_trained():
    process = {"pid": 4242, "memory_bytes": 149250113536, "name": "python3"}
    held = {"memory_free_bytes": 536870912, "memory_used_bytes": 150217949184, "processes": [process]}
    plain = changed({f"gpus.gpus[2].{field}": value for field, value in held.items()}, HGX)
    plain["training"]["runs"] = [run for run in plain["training"]["runs"] if "GPU:2" not in run["devices"]]
    finding = found("gpu-memory-held-by-others", plain)
    assert finding.severity is Severity.ERROR
    assert any(fix.command and fix.command.startswith("export CUDA_VISIBLE_DEVICES=GPU-") for fix in finding.fix)


@table
def test_causes_named_by_one_event(event, code, severity, words):
    causes_of_it = causes.judge(facts(only_log(event)).get(Log))
    assert list(causes_of_it) == [code] * (code is not None)
    if code is not None:
        assert words in causes_of_it[code].summary
        assert causes_of_it[code].own_severity == severity  # None: the rule's own


def test_further_steps_do_not_cancel_a_nan_loss():
    events = (("loss-not-finite", "loss: nan", {"value": "nan", "step": "12"}), ("training-progress", "step 13"))
    cause = causes.judge(facts(only_log(*events)).get(Log))["loss-not-finite"]
    assert cause.summary == "The training loss became nan at step 12."
