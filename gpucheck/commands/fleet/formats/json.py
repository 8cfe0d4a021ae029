"""The fleet as JSON; ``gpucheck fleet schema`` prints its schema."""

from typing import Any

from gpucheck.commands.fleet.model import FLEET_SCHEMA_VERSION, Fleet
from gpucheck.core.reports.json import render as render


def schema() -> dict[str, Any]:
    """Return the JSON Schema 2020-12 of a fleet."""
    from gpucheck.core.engine.schema import document

    return document("fleet", FLEET_SCHEMA_VERSION, Fleet)[0]
