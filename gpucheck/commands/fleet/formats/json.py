"""The fleet as JSON: its one serialised form. ``gpucheck fleet schema`` describes it."""

import msgspec

from gpucheck.commands.fleet.model import Fleet


def render(fleet: Fleet) -> str:
    """Indented JSON with a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(fleet), indent=2).decode() + "\n"
