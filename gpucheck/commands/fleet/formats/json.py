"""The fleet as JSON; ``gpucheck fleet schema`` prints its schema."""

from typing import Any

import msgspec

from gpucheck.commands.fleet.model import FLEET_SCHEMA_VERSION, Fleet


def render(fleet: Fleet) -> str:
    """Render indented JSON with a final newline."""
    return msgspec.json.format(msgspec.json.encode(fleet), indent=2).decode() + "\n"


def schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of that form."""
    from gpucheck.core.engine.schema import document

    return document("fleet", FLEET_SCHEMA_VERSION, Fleet)[0]
