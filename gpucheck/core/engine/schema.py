"""The published JSON Schema of the report, derived from the structs: ``gpucheck schema`` prints it."""

import inspect
from typing import Any

from gpucheck.core.engine.plugin import load_probes
from gpucheck.core.logs.events import Event, Kind
from gpucheck.core.model import SCHEMA_VERSION, Report, Request

REFERENCE = "#/$defs/{name}"


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of the report, with the fact of every probe typed by name.

    The writer always writes every field, so every field of a struct is required; unknown fields are allowed everywhere, so
    that a report of a later minor version is still valid.
    """
    import msgspec  # its schema part is loaded on demand

    facts = {"request": Request, **{probe.name: probe.fact for probe in load_probes()}}
    (report, *kinds), components = msgspec.json.schema_components((Report, *facts.values()), ref_template=REFERENCE)
    for component in components.values():
        if "description" in component:
            component["description"] = inspect.cleandoc(component["description"])  # Python 3.13 does it when it compiles
        if "properties" in component:
            component["required"] = list(component["properties"])
    name = report["$ref"].rpartition("/")[2]
    whole = components.pop(name)
    del components["Fact"]  # the base of all facts, which are named below
    del components[Kind.__name__]  # later versions know more kinds of events
    components[Event.__name__]["properties"]["kind"] = {"type": "string"}
    whole["properties"]["facts"] = {
        "type": "object",
        "description": "What each probe saw, by the probe's name. A probe without a fact is left out: see probes[].problem.",
        "properties": dict(zip(facts, kinds, strict=True)),
        "additionalProperties": {"type": "object"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:keras-gpucheck:report:{SCHEMA_VERSION}",
        **whole,
        "title": f"gpucheck report {SCHEMA_VERSION}",
        "$defs": dict(sorted(components.items())),
    }
