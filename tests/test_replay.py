"""A report judged again says the same; another version, or a file that is no report, is refused in one line."""

import json
import time

import pytest
from fakes import facts, machine, readings

from gpucheck.engine.pipeline import assemble, judge
from gpucheck.engine.plugin import load_rows, load_rules
from gpucheck.engine.replay import Unreadable, replay
from gpucheck.model import SCHEMA_VERSION, Request, Verdict
from gpucheck.reports import json as json_report


def written(changes=(), **request):
    """The report of a recorded machine, as a file."""
    plain = machine("h200")
    for probe, field, value in changes:
        plain[probe][field] = value
    plain["request"].update(request)
    given = sorted((one for one in readings(plain) if one.probe != "request"), key=lambda one: one.probe)
    judgements = judge(facts(plain), load_rules())
    return json_report.render(assemble(Request(**request), given, judgements, load_rows(), time.monotonic())).encode()


BROKEN = (("tensorflow", "devices", [{"name": "CPU:0", "kind": "CPU"}]),)


@pytest.mark.parametrize("changes", [(), BROKEN])
def test_the_same_rules_say_the_same(changes):
    text = written(changes)
    again = replay(text)
    old = json.loads(text)
    assert json.loads(json_report.render(again)) == old
    assert bool(again.findings) == bool(changes)


def test_options_add_to_what_the_run_was_asked():
    assert replay(written(), allow_cpu=True).facts["request"].allow_cpu is True
    assert replay(written(allow_cpu=True)).facts["request"].allow_cpu is True


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda old: b"{", "not JSON"),
        (lambda old: b"[1]", "not a gpucheck report"),
        (lambda old: old.pop("facts"), "not a gpucheck report"),
        (lambda old: old.update(schema_version="99.0"), "newer than " + SCHEMA_VERSION),
        (lambda old: old.update(schema_version="0.9"), "no longer reads"),
        (lambda old: old.update(schema_version="next"), "is no version"),
        (lambda old: old["facts"]["gpus"].update(gpus="many"), "other types"),
        (lambda old: old["facts"]["driver"].pop("status"), "other types"),
        (lambda old: old["probes"][0].update(status="splendid"), "other types"),
    ],
)
def test_what_cannot_be_judged_is_refused(change, words):
    old = json.loads(written())
    changed = change(old)
    with pytest.raises(Unreadable, match=words):
        replay(changed if isinstance(changed, bytes) else json.dumps(old).encode())


def test_a_probe_the_report_does_not_know_is_not_observed():
    old = json.loads(written())
    del old["facts"]["pci"]
    old["probes"] = [run for run in old["probes"] if run["name"] != "pci"]
    again = replay(json.dumps(old).encode())
    assert {outcome.reason for outcome in again.outcomes if outcome.code == "no-nvidia-gpu"} == {"pci: not observed"}


def test_a_probe_that_failed_stays_failed():
    old = json.loads(written())
    old["facts"].pop("pci")
    for run in old["probes"]:
        if run["name"] == "pci":
            run.update(status="failed", problem="OSError: no bus")
    again = replay(json.dumps(old).encode())
    assert again.unknown_because == ("pci: OSError: no bus",)


def test_a_newer_minor_version_is_read_without_the_fields_it_added():
    old = json.loads(written(BROKEN))
    major, minor = SCHEMA_VERSION.split(".")
    old.update(schema_version=f"{major}.{int(minor) + 7}", news={"a": [1]})
    old["facts"]["gpus"]["news"] = 1
    old["facts"]["a_probe_of_tomorrow"] = {"seen": True}
    old["probes"] += [{"name": "a_probe_of_tomorrow", "status": "ok", "seconds": 1.0, "problem": None}]
    again = replay(json.dumps(old).encode())
    assert again.schema_version == SCHEMA_VERSION
    assert [one.code for one in again.findings] == [one.code for one in replay(written(BROKEN)).findings]


@pytest.mark.parametrize("text", [b"[" * 200_000, b'{"a":' * 200_000, b'{"facts": {"x": ' + b"[" * 200_000])
def test_what_is_nested_without_end_is_refused(text):
    with pytest.raises(Unreadable, match="not JSON: nested too deeply"):
        replay(text)


@pytest.mark.parametrize("where", [lambda old: old, lambda old: old["probes"][0]], ids=["run", "probe"])
@pytest.mark.parametrize("seconds", [-5, -0.001, True])
def test_a_time_that_no_run_takes_is_refused(where, seconds):
    old = json.loads(written())
    where(old)["seconds"] = seconds
    with pytest.raises(Unreadable, match=f"seconds: {seconds}"):
        replay(json.dumps(old).encode())


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_json_is_read_as_powershell_writes_it(encoding):
    text = written().decode().replace("NVIDIA H200", "NVIDIA H200 ü")
    again = replay(text.replace("\n", "\r\n").encode(encoding))
    assert again.facts["gpus"].gpus[0].name == "NVIDIA H200 ü"


@pytest.mark.parametrize("probe", ["training", "tensorflow", "pci"])
def test_a_fact_that_is_not_there_was_not_looked_at(probe):
    old = json.loads(written())
    del old["facts"][probe]
    again = replay(json.dumps(old).encode())
    assert (again.verdict, again.exit_code) == (Verdict.UNKNOWN, 3)
    assert again.unknown_because == (f"{probe}: the report says that it answered, and has no fact of it",)


def test_a_training_that_the_report_does_not_even_name_is_missed():
    old = json.loads(written())
    del old["facts"]["training"]
    old["probes"] = [run for run in old["probes"] if run["name"] != "training"]
    assert replay(json.dumps(old).encode()).unknown_because == ("nothing was trained: not observed",)
    old["facts"]["request"]["smoke"] = False
    assert replay(json.dumps(old).encode()).exit_code == 0
