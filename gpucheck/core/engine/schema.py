"""Published JSON Schemas, derived from the structs: of the report, as ``gpucheck schema`` prints it, and of any other struct."""

import inspect
from typing import Any

from gpucheck.core.engine.discovery import load_probes
from gpucheck.core.model import SCHEMA_VERSION, Report, Request

REFERENCE = "#/$defs/{name}"


def schema() -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of the report, with the fact of every probe typed by name."""
    facts: dict[str, type] = {"request": Request, **{probe.name: probe.fact for probe in load_probes()}}
    published, kinds = document("report", SCHEMA_VERSION, Report, *facts.values())
    definitions = published["$defs"]
    del definitions["Fact"]  # the base of all facts, which are named below
    published["properties"]["facts"] = {
        "type": "object",
        "description": "The fact of each probe, by the probe's name. A probe without a fact is omitted: see probes[].problem.",
        "properties": dict(zip(facts, kinds, strict=True)),
        "additionalProperties": {"type": "object"},
    }
    return published


def document(name: str, version: str, root: type, *others: type) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the schema of a struct, and references to other structs, which it then also defines.

    The writer always writes every field, so every field of a struct is required; unknown fields are allowed everywhere, so
    that what a later minor version writes is still valid.
    """
    import msgspec  # its schema part is loaded on demand

    (reference, *references), definitions = msgspec.json.schema_components((root, *others), ref_template=REFERENCE)
    for definition in definitions.values():
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])  # Python 3.13 does it when it compiles
        if "properties" in definition:
            definition["required"] = list(definition["properties"])
    whole = definitions.pop(reference["$ref"].rpartition("/")[2])
    published = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:keras-gpucheck:{name}:{version}",
        **whole,
        "title": f"gpucheck {name} {version}",
        "$defs": dict(sorted(definitions.items())),
    }
    return published, references
