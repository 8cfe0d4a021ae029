"""One rule on a changed machine or on a log alone; and the root causes by all rules."""

from changes import apply
from fakes import facts, machine

from gpucheck.commands.explain.log import explain
from gpucheck.core.engine.discovery import load_rows, load_rules
from gpucheck.core.engine.judgement import fold, judge
from gpucheck.core.model import Status

RULES = {rule.code: rule for rule in load_rules()}
ABOVE_QUICK = ("tensorflow", "backend", "keras", "training", "log", "tpu_resolver", "activity")


def changed(changes=None, name="h200", quick=False):
    """The plain facts of a recorded machine with changes (path -> value); ``quick`` omits the facts that --quick does not read."""
    plain = apply(machine(name), tuple((changes or {}).items()))
    if quick:
        plain = {probe: fact for probe, fact in plain.items() if probe not in ABOVE_QUICK}
        plain["request"]["level"] = 0
    return plain


def only_log(*events):
    """A log of these events alone: (kind, text) or (kind, text, fields)."""
    numbered = [
        {"kind": kind, "line": line, "text": text, "fields": more[0] if more else {}}
        for line, (kind, text, *more) in enumerate(events, 1)
    ]
    return {"log": {"source": "train.log", "lines": len(events), "events": numbered}}


def outcome(code, plain):
    (judgement,) = judge(facts(plain), [RULES[code]])
    assert judgement.outcome.status is not Status.CRASHED, judgement.outcome.reason
    return judgement


def status(code, plain):
    return outcome(code, plain).outcome.status


def found(code, plain):
    judgement = outcome(code, plain)
    assert judgement.finding is not None, judgement.outcome
    return judgement.finding


def roots(plain):
    """Codes of the root causes, most likely first."""
    return [item.code for item in fold(judge(facts(plain), RULES.values()), load_rows()) if not item.explained_by]


def log_findings(text):
    """The root causes of a log without other facts, most likely first."""
    report = explain([("", text.rstrip("\n").split("\n"))], "train.log")
    assert [outcome for outcome in report.outcomes if outcome.status is Status.CRASHED] == []
    return [finding for finding in report.findings if finding.explained_by is None]
