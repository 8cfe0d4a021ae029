"""The published JSON Schema of a merged fleet, derived from the structs."""

from typing import Any

from gpucheck.commands.fleet.model import FLEET_SCHEMA_VERSION, Fleet


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12. Every field is always written; unknown ones are allowed, for later minor versions."""
    import msgspec  # its schema part is loaded on demand

    (reference,), components = msgspec.json.schema_components((Fleet,), ref_template="#/$defs/{name}")
    for component in components.values():
        if "properties" in component:
            component["required"] = list(component["properties"])
    whole = components.pop(reference["$ref"].rpartition("/")[2])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:keras-gpucheck:fleet:{FLEET_SCHEMA_VERSION}",
        **whole,
        "title": f"gpucheck fleet {FLEET_SCHEMA_VERSION}",
        "$defs": dict(sorted(components.items())),
    }
