"""A replayed report gives the same result; another version or another file is refused in one line."""

import json

import pytest
from one_rule import changed

from gpucheck.core.engine.recorded import Unreadable, replay
from gpucheck.core.model import SCHEMA_VERSION, Verdict
from gpucheck.core.reports import json as json_report

BROKEN = {"tensorflow.devices": [{"name": "CPU:0", "kind": "CPU"}]}
PROBES = sorted(changed().keys() - {"request"})


def written(changes=None, **request):
    """The report of a recorded machine, as JSON."""
    facts = changed(changes or {})
    facts["request"].update(request)
    probes = [{"name": name, "status": "ok", "seconds": 0.25, "problem": None} for name in PROBES]
    return {"schema_version": "1.0", "started_at": "2026-01-02T03:04:05Z", "seconds": 6.5, "facts": facts, "probes": probes}


def again(report):
    return replay(json.dumps(report).encode())


@pytest.mark.parametrize("changes", [{}, BROKEN])
def test_replay_of_a_replayed_report_is_identical(changes):
    first = again(written(changes))
    text = json_report.render(first)
    assert json.loads(json_report.render(replay(text.encode()))) == json.loads(text)
    assert json.loads(text)["probes"] == written()["probes"]
    assert bool(first.findings) == bool(changes)
    assert (first.started_at, first.seconds) == ("2026-01-02T03:04:05Z", 6.5)


def test_options_are_added_to_the_request_of_the_report():
    text = json.dumps(written()).encode()
    assert replay(text, allow_cpu=True).facts["request"].allow_cpu is True
    assert replay(text, strict=True).facts["request"].strict is True
    assert again(written(allow_cpu=True)).facts["request"].allow_cpu is True


REFUSED = {
    "no object": (lambda old: b"[1]", "not a gpucheck report"),
    "cut off": (lambda old: b"{", "not JSON"),
    "an array without end": (lambda old: b"[" * 200_000, "not a gpucheck report"),
    "objects without end": (lambda old: b'{"a":' * 200_000, "not JSON: (nested too deeply|Input data was truncated)"),
    "facts without end": (lambda old: b'{"facts": {"x": ' + b"[" * 200_000, "not JSON: (nested too deeply|Input data was truncated)"),
    "half a character": (lambda old: json.dumps(old).encode().replace(b"NVIDIA H200", b"NVIDIA \xc3"), "not JSON: .*(utf-8|UTF-8)"),
    "no facts": (lambda old: old.pop("facts"), "not a gpucheck report"),
    "newer": (lambda old: old.update(schema_version="99.0"), f"newer than {SCHEMA_VERSION}"),
    "older": (lambda old: old.update(schema_version="0.9"), "no longer reads"),
    "no version": (lambda old: old.update(schema_version="next"), "is not a version"),
    "another type": (lambda old: old["facts"]["gpus"].update(gpus="many"), "other types"),
    "a field less": (lambda old: old["facts"]["driver"].pop("status"), "other types"),
    "another status": (lambda old: old["probes"][0].update(status="splendid"), "other types"),
    "a probe without a name": (lambda old: old["probes"][0].pop("name"), "other types"),
    "another backend": (lambda old: old["facts"]["request"].update(backend="mxnet"), "'mxnet'; this gpucheck supports tensorflow, jax"),
    "trained by another": (lambda old: old["facts"]["training"]["runs"][0].update(backend="mxnet"), "the backend 'mxnet'"),
    "a negative time": (lambda old: old.update(seconds=-0.001), "seconds: -0.001"),
    "a time that is none": (lambda old: old.update(seconds=True), "seconds: True"),
    "a probe's time": (lambda old: old["probes"][0].update(seconds=-5), "^seconds: -5"),
}  # fmt: skip


@pytest.mark.parametrize("change", REFUSED)
def test_unverifiable_input_is_refused(change):
    old = written()
    alter, words = REFUSED[change]
    altered = alter(old)
    with pytest.raises(Unreadable, match=words):
        replay(altered if isinstance(altered, bytes) else json.dumps(old).encode())


def test_newer_minor_version_is_read_without_its_additions():
    old = written(BROKEN)
    major, minor = SCHEMA_VERSION.split(".")
    old.update(schema_version=f"{major}.{int(minor) + 7}", news={"a": [1]})
    old["facts"]["gpus"]["news"] = 1
    old["facts"]["a_probe_of_tomorrow"] = {"seen": True}
    old["probes"] += [{"name": "a_probe_of_tomorrow", "status": "half", "seconds": 1.0, "problem": None}]
    made = again(old)
    assert made.schema_version == SCHEMA_VERSION
    assert made.findings == again(written(BROKEN)).findings


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_json_written_by_powershell_is_read(encoding):
    text = json.dumps(written(), indent=1, ensure_ascii=False).replace("NVIDIA H200", "NVIDIA H200 ü")
    made = replay(text.replace("\n", "\r\n").encode(encoding))
    assert made.facts["gpus"].gpus[0].name == "NVIDIA H200 ü"


def without(probe, **run):
    """The report without a fact; its probe is changed by ``run``, or removed without it."""
    old = written()
    del old["facts"][probe]
    old["probes"] = [{**each, **run} if each["name"] == probe else each for each in old["probes"] if run or each["name"] != probe]
    return again(old)


def test_probe_missing_from_the_report_is_not_observed():
    assert {one.reason for one in without("pci").outcomes if one.code == "no-nvidia-gpu"} == {"pci: not observed"}
    assert without("training").unknown_because == ("nothing was trained: not observed",)
    plain = written(smoke=False)
    del plain["facts"]["training"]
    plain["probes"] = [run for run in plain["probes"] if run["name"] != "training"]
    assert again(plain).exit_code == 0


def test_failed_probe_stays_failed():
    assert without("pci", status="failed", problem="OSError: no bus").unknown_because == ("pci: OSError: no bus",)


@pytest.mark.parametrize("probe", ["training", "tensorflow", "pci"])
def test_missing_fact_of_a_passed_probe_gives_no_verdict(probe):
    made = without(probe, status="ok")
    assert (made.verdict, made.exit_code) == (Verdict.UNKNOWN, 3)
    assert made.unknown_because == (f"{probe}: its status in the report is ok, but the report has no fact of it",)
