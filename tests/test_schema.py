"""The published schema: every report is valid, and every probe's fact is typed."""

import json

import jsonschema
import msgspec
import pytest
from case_files import table
from fakes import MACHINES
from reports.builders import report
from reports.cases import CASES

from gpucheck.core.engine.discovery import load_probes
from gpucheck.core.engine.schema import schema
from gpucheck.core.model import SCHEMA_VERSION
from gpucheck.core.reports import json as format_json

SCHEMA = json.loads(json.dumps(schema()))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def written(made):
    return json.loads(format_json.render(made))


def test_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"].endswith(f":{SCHEMA_VERSION}")
    assert SCHEMA["title"] == f"gpucheck report {SCHEMA_VERSION}"


@pytest.mark.parametrize("name", sorted(path.stem for path in MACHINES.glob("*.json")))
def test_machines_are_valid(name):
    VALIDATOR.validate(written(report(name)))


@pytest.mark.parametrize("case", CASES)
def test_reports_are_valid(case):
    VALIDATOR.validate(written(CASES[case]()))


def test_every_probe_is_typed():
    facts = SCHEMA["properties"]["facts"]["properties"]
    assert facts.keys() == {"request", *(probe.name for probe in load_probes())}
    for name, reference in facts.items():
        described = SCHEMA["$defs"][reference["$ref"].rpartition("/")[2]]
        assert described["type"] == "object", name
        assert described["description"], name


@table
def test_wrong_values_are_invalid(path, wrong):
    document = written(CASES["fail-cusolver"]())
    place = document
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = wrong
    assert not VALIDATOR.is_valid(document)


@pytest.mark.parametrize("field", ["schema_version", "verdict", "findings", "training", "probes", "outcomes", "facts", "tool"])
def test_every_field_is_required(field):
    document = written(report("h200"))
    del document[field]
    assert not VALIDATOR.is_valid(document)


def test_report_of_a_later_minor_version_is_valid():
    document = written(report("h200"))
    document["schema_version"] = "1.99"
    document["novelty"] = document["facts"]["driver"]["novelty"] = document["probes"][0]["novelty"] = 1
    document["facts"]["new_probe"] = {"seen": True}
    VALIDATOR.validate(document)


def test_references_of_the_schema_exist():
    text = json.dumps(SCHEMA)
    targets = {part.split('"')[0] for part in text.split('"$ref": "#/$defs/')[1:]}
    assert targets <= SCHEMA["$defs"].keys()
    assert "Request" in SCHEMA["$defs"]


def test_schema_is_deterministic():
    assert msgspec.json.encode(schema()) == msgspec.json.encode(schema())
