"""Reports on a GPU's health: nvidia-smi -q, dcgmi diag and MIG."""

import re

from gpucheck.core.logs.reading.patterns import cells, named


def _counted(match: "re.Match[str]") -> dict[str, str] | None:
    return None if set(match["count"]) <= {"0"} else named(match)


def _limits(match: "re.Match[str]") -> dict[str, str] | None:
    """Power capping is how a GPU works at its limit; heat and the board's brake are not."""
    return {"reason": match["reason"].lower()} if "power cap" not in match["reason"].lower() else {"reason": "sw power cap"}


def _lost(match: "re.Match[str]") -> dict[str, str] | None:
    """The first count of what could not be corrected since the driver was loaded, if it is no zero."""
    for name, value in cells(match):
        count = re.match(r"\d+", value)
        if ".volatile." in name and count and int(count[0]):
            return {"count": count[0], "section": "volatile"}
    return None


def _throttle(match: "re.Match[str]") -> dict[str, str] | None:
    return {"reason": (named(match) or {}).get("reason", "thermal").lower()}


def _mode(match: "re.Match[str]") -> dict[str, str] | None:
    return {"mode": (named(match) or {})["mode"].lower().replace("e. ", "exclusive-").replace("_", "-")}
