"""A redacted report is still useful: replayed, it gives the same diagnoses."""

import json

import pytest
from one_rule import RULES, changed
from reports.cases import CASES

from gpucheck.core.engine import manual
from gpucheck.core.engine.recorded import replay
from gpucheck.core.reports import json as json_report
from gpucheck.core.reports.redaction import redact


def examples():
    """Every page's example, as a recorded report."""
    for code, rule in RULES.items():
        example = manual.page_of(rule).example
        if example is not None:
            facts = changed(dict(example.changes), example.machine)
            yield pytest.param(json.dumps({"schema_version": "1.0", "facts": facts}).encode(), id=code)


def situations():
    for name, case in CASES.items():
        yield pytest.param(json_report.render(case()).encode(), id=name)


def diagnosis(report):
    explained = [(finding.code, finding.explained_by, finding.severity) for finding in report.findings]
    return report.verdict, report.exit_code, explained, report.outcomes


@pytest.mark.parametrize("recorded", [*examples(), *situations()])
def test_redacted_report_gives_the_same_diagnosis(recorded):
    whole = replay(recorded)
    shared = json_report.render(redact(whole, hosts=["trainbox"], users=["annika"])).encode()
    assert diagnosis(replay(shared)) == diagnosis(whole)
