"""The judgement of a run: derive facts with the combiners, apply the rules to all facts, and find the root causes."""

import collections
from collections.abc import Iterable, Sequence

import msgspec

from gpucheck.core.engine.discovery import load_combiners
from gpucheck.core.model import (
    Diagnosis,
    Fact,
    Finding,
    Level,
    Outcome,
    ProbeStatus,
    Reading,
    Request,
    Scope,
    Severity,
    Skip,
    Status,
    repairs_first,
)
from gpucheck.core.model.fact import Facts
from gpucheck.core.model.plugin import NOT_OF_NODE, Combiner, Need, Row, Rule
from gpucheck.core.repairs.choice import choose
from gpucheck.core.repairs.context import Context

SCOPES = tuple(Scope)
EXPECTATION = "expectation"  # the row of the rules that check the user's expectations


class Missing(msgspec.Struct, frozen=True):
    """Why a plugin can't be called: a fact is missing."""

    reason: str
    crashed: bool  # because a combiner crashed, which is a bug in gpucheck


class Judgement(msgspec.Struct, frozen=True):
    """The outcome of one rule, and its finding if there is one."""

    rule: Rule
    outcome: Outcome
    finding: Finding | None


def derive(facts: Facts, combiners: Iterable[Combiner]) -> Facts:
    """Return the facts plus those that the combiners derive, in the order of ``discovery.load_combiners``.

    A combiner whose facts are missing is skipped, one that raises has failed; its reading gives the reason.
    """
    for combiner in combiners:
        facts = Facts([*facts, _combine(combiner, facts)])
    return facts


def arguments(needs: Iterable[Need], facts: Facts) -> dict[str, Fact | None] | Missing:
    """Return the arguments of a rule or combiner. The fact of a crashed combiner is missing, even if it is optional."""
    given: dict[str, Fact | None] = {}
    for need in needs:
        fact = facts.get(need.fact)
        if fact is None and (not need.optional or _crashed(need, facts.reading(need.probe))):
            reading = facts.reading(need.probe)
            return Missing(_reason(need, reading), _crashed(need, reading))
        given[need.name] = fact
    return given


def judge(
    facts: Facts,
    rules: Iterable[Rule],
    combiners: Iterable[Combiner] | None = None,
    into: list[Judgement] | None = None,
) -> list[Judgement]:
    """Derive facts, then apply the rules. A rule whose facts are missing is skipped, never clear.

    Args:
        facts: the probes' facts and the request.
        rules: the rules to apply; each gets a judgement.
        combiners: in the order of their dependencies; None: all.
        into: a list to append each judgement to, which is returned; None: a new one.
    """
    judgements = [] if into is None else into
    derived = derive(facts, load_combiners() if combiners is None else combiners)
    for rule in rules:
        judgements.append(_apply(rule, derived))
    return judgements


def fold(judgements: Sequence[Judgement], rows: dict[str, Row]) -> tuple[Diagnosis, ...]:
    """Find the root cause of each finding among the others, and sort: root causes first, explained findings last.

    A warning that explains an error is an error.
    """
    findings = {
        judgement.rule.code: (judgement.rule, judgement.finding) for judgement in judgements if judgement.finding is not None
    }
    severities = {code: finding.severity or rule.severity for code, (rule, finding) in findings.items()}
    roots = {code: _root(code, findings, severities) for code in findings}
    errors = {roots[code] for code, severity in severities.items() if severity is Severity.ERROR}
    weight = collections.Counter(roots.values())

    def rank(diagnosis: Diagnosis) -> tuple[bool, bool, bool, int, int, str]:
        return (
            diagnosis.explained_by is not None,
            diagnosis.severity is not Severity.ERROR,
            diagnosis.row == EXPECTATION,  # a fault matters more than an unmet expectation
            SCOPES.index(diagnosis.scope),
            -weight[diagnosis.code],
            diagnosis.code,
        )

    diagnoses = (
        Diagnosis(
            code=code,
            row=rule.row,
            severity=Severity.ERROR if code in errors else severities[code],
            scope=rule.scope,
            summary=finding.summary,
            evidence=finding.evidence,
            first_check=rule.first_check or rows[rule.row].first_check,
            fix=repairs_first(finding.fix),
            action=finding.action,
            affects=finding.affects,
            assignments=finding.assignments,
            explained_by=None if roots[code] == code else roots[code],
        )
        for code, (rule, finding) in findings.items()
    )
    return tuple(sorted(diagnoses, key=rank))


def _combine(combiner: Combiner, facts: Facts) -> Reading:
    given = arguments(combiner.needs, facts)
    if isinstance(given, Missing):
        status = ProbeStatus.FAILED if given.crashed else ProbeStatus.SKIPPED
        return Reading(probe=combiner.name, status=status, problem=given.reason)
    try:
        return Reading(probe=combiner.name, status=ProbeStatus.OK, fact=combiner.combine(**given))
    except Exception as error:  # a bug in gpucheck: all rules that need the fact report it
        problem = f"combiner {combiner.name}: {type(error).__name__}: {error}"
        return Reading(probe=combiner.name, status=ProbeStatus.FAILED, problem=problem)


def _derived(need: Need) -> bool:
    return need.fact.__module__.startswith(("gpucheck.core.combiners.", "gpucheck.core.repairs."))


def _crashed(need: Need, reading: Reading | None) -> bool:
    return _derived(need) and reading is not None and reading.status is ProbeStatus.FAILED


def _reason(need: Need, reading: Reading | None) -> str:
    problem = (reading.problem if reading is not None else None) or "not observed"
    return problem if _derived(need) else f"{need.probe}: {problem}"


def _apply(rule: Rule, facts: Facts) -> Judgement:
    request = facts.get(Request)
    if request is not None and (why := _excluded(rule, request)) is not None:
        return judgement_of(rule, Status.SKIPPED, why)
    given = arguments(rule.needs, facts)
    if isinstance(given, Missing):
        return judgement_of(rule, Status.CRASHED if given.crashed else Status.SKIPPED, given.reason)
    try:
        result = rule.check(**given)
    except Exception as error:  # a bug in gpucheck must not affect the other rules
        return judgement_of(rule, Status.CRASHED, f"{type(error).__name__}: {error}")
    if result is None:
        return judgement_of(rule, Status.CLEAR)
    if isinstance(result, Skip):
        return judgement_of(rule, Status.SKIPPED, result.reason)
    context = facts.get(Context)
    if context is not None:
        result = msgspec.structs.replace(result, fix=choose(result.fix, context))
    return judgement_of(rule, Status.FOUND, finding=result)


def _excluded(rule: Rule, request: Request) -> str | None:
    """Return why the request excludes a rule; None if it includes it."""
    if rule.tensorflow and request.other_backend:
        return f"about TensorFlow, which --backend {request.other_backend} excludes"
    if request.level is Level.NODE and not (rule.of_node or rule.row == EXPECTATION):
        return NOT_OF_NODE
    return None


def judgement_of(rule: Rule, status: Status, reason: str | None = None, finding: Finding | None = None) -> Judgement:
    """Return the judgement with that outcome of a rule."""
    return Judgement(rule, Outcome(code=rule.code, status=status, reason=reason), finding)


def _root(code: str, findings: dict[str, tuple[Rule, Finding]], severities: dict[str, Severity]) -> str:
    def weakness(cause: str) -> tuple[bool, int, str]:
        """Rank the causes of one effect: an error explains it better than a warning, which may be intended."""
        return severities[cause] is not Severity.ERROR, SCOPES.index(findings[cause][0].scope), cause

    visited = {code}
    while True:
        causes = [other for other, (rule, _) in findings.items() if other not in visited and _explains(rule, *findings[code])]
        if not causes:
            return code
        code = min(causes, key=weakness)
        visited.add(code)


def _explains(cause: Rule, effect: Rule, finding: Finding) -> bool:
    """Whether a rule explains a finding; of two that explain each other, the lower scope does, else the earlier code."""
    if effect.code not in cause.explains or cause.code in finding.not_explained_by:
        return False
    earlier = (SCOPES.index(cause.scope), cause.code) < (SCOPES.index(effect.scope), effect.code)
    return earlier or cause.code not in effect.explains
