"""Combine the expectations of one kind into one finding."""

from collections.abc import Callable, Iterable

from gpucheck.core.combiners.expected import Expected
from gpucheck.core.expectations import NO_EXPECTATIONS
from gpucheck.core.expectations.items import Item
from gpucheck.core.model import Action, Finding, Fix, Skip
from gpucheck.core.model.wording import listing

SNAPSHOT = Fix(
    text="If the machine's current state is right, save it as the expected state",
    command="gpucheck snapshot expected.toml",
)


def judge(
    expected: Expected,
    items: tuple[Item, ...],
    verb: str,
    repairs: Callable[[list[Item]], Iterable[Fix]],
    action: Action | None = None,
) -> Finding | Skip | None:
    """Return one finding for all unmet expectations; a skip if none is unmet, but some could not be checked.

    Args:
        expected: all expectations.
        items: the rule's expectations.
        verb: written between the subject of an item and the observed value: " is", ":".
        repairs: returns the fixes for the unmet ones.
        action: the hardware action if an expectation is unmet.
    """
    if not expected.given:
        return Skip(NO_EXPECTATIONS)
    unmet = [item for item in items if item.met is False]
    unchecked = [item for item in items if item.met is None]
    if unmet:
        return Finding(
            summary=_summary(unmet, unchecked, verb),
            evidence=tuple(evidence for item in unmet for evidence in item.evidence),
            fix=repairs(unmet),
            action=action,
            affects=tuple(dict.fromkeys(name for item in unmet for name in item.affects)),
        )
    reasons = dict.fromkeys(f"{item.what} ({item.expected}): {item.observed}" for item in unchecked)
    return Skip("; ".join(reasons)) if reasons else None


def _summary(unmet: list[Item], unchecked: list[Item], verb: str) -> str:
    same: dict[tuple[str, str], list[str]] = {}
    for item in unmet:
        same.setdefault((item.observed, item.expected), []).append(item.what)
    parts = [
        f"{listing(list(dict.fromkeys(names)))}{verb} {observed}, expected {expected}"
        for (observed, expected), names in same.items()
    ]
    more = f"; {listing(list(dict.fromkeys(item.what for item in unchecked)))} could not be checked" if unchecked else ""
    summary = "; ".join(parts) + more
    start = summary[:1].upper() if summary.partition(" ")[0].islower() else summary[:1]  # "cuDNN" is kept
    return f"{start}{summary[1:]}."
