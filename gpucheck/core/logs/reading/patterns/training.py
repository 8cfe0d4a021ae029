"""Training itself: that it goes on, that its loss is a number, and what it waits for."""

import math
import re

from gpucheck.core.logs.reading.patterns import named

_MOST_CLASSES = 10  # as their logarithm: 22,026
_CHANCE = 0.1  # how far, relatively, an accuracy may be from that of a guess


def _value(match: "re.Match[str]") -> dict[str, str] | None:
    fields = named(match) or {}
    value = fields.get("value", "").lower()
    fields["value"] = "inf" if "inf" in value else "nan"
    return fields


def _moving(match: "re.Match[str]") -> dict[str, str] | None:
    """A first step, or a rate of zero, shows nothing yet."""
    fields = named(match) or {}
    return None if fields.pop("rate", "1").strip("0.") == "" else fields


def _at_chance(match: "re.Match[str]") -> dict[str, str] | None:
    """classes: the number of classes that loss and accuracy are those of a guess among."""
    loss, accuracy = float(match["loss"]), float(match["accuracy"])
    classes = round(math.exp(loss)) if 0 < loss < _MOST_CLASSES else 0
    if classes < 2 or abs(loss - math.log(classes)) > 0.005 * loss or abs(accuracy * classes - 1) > _CHANCE:
        return None
    return {"loss": match["loss"], "accuracy": match["accuracy"], "classes": str(classes)}
