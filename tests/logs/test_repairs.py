"""The repairs of a log: the right one first, and none for another machine."""

import pytest
from log_cases import REPAIR_FILES, repair_cases
from one_rule import log_findings


def faults(case):
    findings = log_findings(case["text"])
    if not findings or findings[0].code != case["code"]:
        yield "code", [finding.code for finding in findings]
        return
    steps = [f"{fix.text}\n{fix.command or ''}" for fix in findings[0].fix]
    if case.get("nothing"):
        yield from (("nothing", step) for step in steps)
        return
    if case.get("first", "") not in steps[0]:
        yield "first", steps[0]
    yield from (("any", part, steps) for part in case.get("any", ()) if not any(part in step for step in steps))
    every = [f"{fix.text}\n{fix.command or ''}" for finding in findings for fix in finding.fix]
    yield from (("never", part, step) for part in case.get("never", ()) for step in every if part in step)


@pytest.mark.parametrize("file", REPAIR_FILES)
def test_repairs_match_the_log(file):
    cases = repair_cases(file)
    assert [(case["text"], found) for case in cases for found in faults(case)] == []
