"""The arguments of plugins: facts by type, including those that combiners derive."""

from collections.abc import Iterable

import msgspec

from gpucheck.core.engine.facts import Facts
from gpucheck.core.model import Fact, ProbeStatus, Reading
from gpucheck.core.model.plugin import Combiner, Need


class Missing(msgspec.Struct, frozen=True):
    """Why a plugin can't be called: a fact is missing."""

    reason: str
    crashed: bool  # because a combiner crashed, which is a bug of gpucheck


def derive(facts: Facts, combiners: Iterable[Combiner]) -> Facts:
    """Return the facts plus those that the combiners derive, in the order of ``discovery.load_combiners``.

    A combiner whose facts are missing is skipped, one that raises has failed; its reading gives the reason.
    """
    for combiner in combiners:
        facts = Facts([*facts, _combine(combiner, facts)])
    return facts


def arguments(needs: Iterable[Need], facts: Facts) -> dict[str, Fact | None] | Missing:
    """Return the arguments of a rule or combiner. The fact of a crashed combiner counts as missing even if it is optional."""
    given: dict[str, Fact | None] = {}
    for need in needs:
        fact = facts.get(need.fact)
        if fact is None and (not need.optional or _crashed(need, facts.reading(need.probe))):
            reading = facts.reading(need.probe)
            return Missing(_reason(need, reading), _crashed(need, reading))
        given[need.name] = fact
    return given


def _combine(combiner: Combiner, facts: Facts) -> Reading:
    given = arguments(combiner.needs, facts)
    if isinstance(given, Missing):
        status = ProbeStatus.FAILED if given.crashed else ProbeStatus.SKIPPED
        return Reading(probe=combiner.name, status=status, problem=given.reason)
    try:
        return Reading(probe=combiner.name, status=ProbeStatus.OK, fact=combiner.combine(**given))
    except Exception as error:  # a bug of gpucheck: all rules that need the fact report it
        problem = f"combiner {combiner.name}: {type(error).__name__}: {error}"
        return Reading(probe=combiner.name, status=ProbeStatus.FAILED, problem=problem)


def _derived(need: Need) -> bool:
    return need.fact.__module__.startswith(("gpucheck.core.combiners.", "gpucheck.core.repairs."))


def _crashed(need: Need, reading: Reading | None) -> bool:
    return _derived(need) and reading is not None and reading.status is ProbeStatus.FAILED


def _reason(need: Need, reading: Reading | None) -> str:
    problem = (reading.problem if reading is not None else None) or "not observed"
    return problem if _derived(need) else f"{need.probe}: {problem}"
