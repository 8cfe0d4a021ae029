"""The kernel's log: Xid and NVRM lines, the module that would not load, device nodes, PCIe and NVLink."""

import re

from gpucheck.core.logs.reading.patterns import cells, named


def _module(match: "re.Match[str]") -> dict[str, str] | None:
    fields = named(match) or {}
    message = fields.get("message", "").lower()
    if re.search(r"required key|key was rejected|unsigned|unavailable key", message):
        fields["reason"] = "signature"
    elif "not found in directory" in message:
        fields["reason"] = "not-built"
    elif "no such device" in message:
        fields["reason"] = "no-device"
    return fields


def _node(match: "re.Match[str]") -> dict[str, str] | None:
    fields = named(match) or {}
    return {**fields, "error": fields["error"].lower()}


def _differing(match: "re.Match[str]") -> dict[str, str] | None:
    """Two versions that agree as far as both are spelled out are one."""
    kernel, library = match["kernel"], match["library"]
    return None if kernel.startswith(library) or library.startswith(kernel) else named(match)


def _link(match: "re.Match[str]") -> dict[str, str] | None:
    """A link at its full width is no finding; its speed drops while a GPU idles."""
    fields = named(match) or {}
    return fields if int(fields["width"]) < int(fields["width_max"]) else None


def _queried_link(match: "re.Match[str]") -> dict[str, str] | None:
    values = dict(cells(match))
    width, most = values.get("pcie.link.width.current", ""), values.get("pcie.link.width.max", "")
    numeric = width.isdecimal() and most.isdecimal()
    return {"width": width, "width_max": most} if numeric and int(width) < int(most) else None
