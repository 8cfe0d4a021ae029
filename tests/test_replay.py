"""A report judged again says the same; another version, or a file that is no report, is refused in one line."""

import json
import time

import pytest
from fakes import facts, machine, readings

from gpucheck.model import SCHEMA_VERSION, Request
from gpucheck.pipeline import assemble, judge
from gpucheck.plugin import load_rows, load_rules
from gpucheck.replay import Unreadable, replay
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
    assert replay(written(), allow_cpu=True).facts["request"]["allow_cpu"] is True
    assert replay(written(allow_cpu=True)).facts["request"]["allow_cpu"] is True


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
