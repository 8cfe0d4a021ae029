"""A report, or the result of a command, as JSON. ``gpucheck schema`` prints the schema of reports."""

from typing import Any

import msgspec


def render(report: msgspec.Struct) -> str:
    """Render indented JSON with a final newline. Numbers that are not finite become null; text is valid Unicode."""
    try:
        data = msgspec.json.encode(report)
    except (UnicodeEncodeError, OverflowError):  # a file name that is not UTF-8, an integer above 64 bits
        data = msgspec.json.encode(_encodable(msgspec.to_builtins(report)))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(entry) for entry in value]
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return float(value) if abs(value) < 1 << 1000 else None
    return value
