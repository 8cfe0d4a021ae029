"""From expectations and what was seen of them to one finding per kind."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from gpucheck.expectations import NONE_GIVEN
from gpucheck.model import Fact, Finding, Fix, Request, Skip
from gpucheck.rules._words import listing

if TYPE_CHECKING:
    from gpucheck.expectations.items import Item

SNAPSHOT = Fix(
    text="If this machine is right as it is, write down what it is now",
    command="gpucheck snapshot expected.toml",
)


def judge(
    request: Request, kind: str, facts: tuple[Fact | None, ...], word: str, fix: Callable[["list[Item]"], tuple[Fix, ...]]
) -> Finding | Skip | None:
    """One finding for everything that is not met; unknown as a whole where nothing is unmet and something was not seen.

    Args:
        request: whose expectations these are.
        kind: what is looked at: "gpu_count", "gpu_models", "version" or "training".
        facts: that it needs.
        word: stands between what an item is about and what was seen of it: " is", ":".
        fix: what to do about the unmet ones.
    """
    if request.expectations is None:
        return Skip(NONE_GIVEN)
    from gpucheck.expectations import gpus, training, versions  # most runs have no use for them
    from gpucheck.expectations.items import Machine

    looks = {
        "gpu_count": gpus.gpu_count,
        "gpu_models": gpus.gpu_models,
        "version": versions.version,
        "training": training.training,
    }
    items = list(looks[kind](Machine(request, *facts)))
    unmet = [item for item in items if item.met is False]
    unseen = [item for item in items if item.met is None]
    if not unmet:
        if unseen:
            return Skip("; ".join(dict.fromkeys(f"{item.what} ({item.expected}): {item.seen}" for item in unseen)))
        return None
    same: dict[tuple[str, str], list[str]] = {}
    for item in unmet:
        same.setdefault((item.seen, item.expected), []).append(item.what)
    told = [
        f"{listing(list(dict.fromkeys(names)))}{word} {seen}, where {expected} was expected"
        for (seen, expected), names in same.items()
    ]
    more = f"; {listing(list(dict.fromkeys(item.what for item in unseen)))} could not be looked at" if unseen else ""
    summary = "; ".join(told) + more
    start = summary[:1].upper() if summary.partition(" ")[0].islower() else summary[:1]  # cuDNN stays
    return Finding(
        summary=f"{start}{summary[1:]}.",
        evidence=tuple(evidence for item in unmet for evidence in item.evidence),
        fix=(*fix(unmet), SNAPSHOT),
        affects=tuple(dict.fromkeys(name for item in unmet for name in item.affects)),
    )
