"""The cases of tests/cases/expectations: recorded machines compared with expectations, and with an earlier report.

machine: hgx-h200             the recorded machine (default: h200)
expect:                       a file of expectations, indented below
quick                         without the facts that --quick omits
failed: gpus                  probes that failed
request strict = true         a part of the request
gpu.gpus = []                 a change of a fact
then quick                    any of these, for the earlier report
-> fail 1                     the verdict and the exit code, then the findings and what is unknown;
-> limits: open files: 5 -> 6 or the differences from the earlier report, and what was not compared
"""

import json
import pathlib

import case_files
import pytest
from expectations import recorded_reports

from gpucheck.commands.expectations import drift
from gpucheck.core.expectations import read
from gpucheck.core.model import Expectations

FOLDER = pathlib.Path(__file__).parents[1] / "cases" / "expectations"


def report(given, rules, **asked):
    """The report described by these lines."""
    changes, name, without, failed, unobserved = {}, "h200", (), (), ()
    for line in given:
        path, equals, value = line.partition(" = ")
        if line == "quick":
            without, asked["level"] = recorded_reports.ABOVE_QUICK, 0
        elif line == "no rules":
            rules = ()
        elif line.startswith("unobserved: "):
            unobserved = line.partition(": ")[2].split(", ")
        elif line.startswith("expect:"):
            asked["expectations"] = read.parse(line.partition("\n")[2], "expected.toml")
        elif line.startswith(("without: ", "failed: ")):
            names = tuple(line.partition(": ")[2].split(", "))
            without, failed = (names, failed) if line.startswith("without") else (without, names)
        elif line.startswith("machine: "):
            name = line[9:]
        elif path.startswith("request "):
            asked[path[8:]] = json.loads(value)
        else:
            assert equals, line
            changes[path] = json.loads(value)
    return recorded_reports.report(changes, name, rules=rules, without=without, failed=failed, unobserved=unobserved, **asked)


def judged(case):
    """The judgement of a machine with expectations."""
    made = report(case.given, recorded_reports.RULES, expectations=Expectations())
    lines = [f"{made.verdict.value} {made.exit_code}"]
    for finding in made.findings:
        notes = [("explained by", finding.explained_by), ("muted", finding.muted), ("mute expired", finding.mute_expired)]
        more = [f" ({word}: {value})" for word, value in [*notes, ("affects", ", ".join(finding.affects))] if value]
        lines.append(f"{finding.code} {finding.severity.value}: {finding.summary}{''.join(more)}")
    return [f"-> {line}" for line in [*lines, *(f"unknown: {reason}" for reason in made.unknown_because)]]


def differences(case):
    """The differences from an earlier report, or from the expectations."""
    then = [line[5:] for line in case.given if line.startswith("then ")]
    now = [line for line in case.given if not line.startswith(("then ", "expect:"))]
    wanted = [line.partition("\n")[2] for line in case.given if line.startswith("expect:")]
    new = report(now, ())
    if wanted:
        found = drift.from_expectations(read.parse(wanted[0], "e.toml"), new, "e.toml", "now")
    else:
        found = drift.between(report(then, ()), new, "then", "now")
    assert all(change.why == drift.GROUPS[change.group] for change in found.changes)
    changes = [f"{one.group}: {one.what}: {one.old} -> {one.new}{f' ({one.note})' if one.note else ''}" for one in found.changes]
    return [f"-> {line}" for line in [*(changes or ["no difference"]), *(f"not compared: {what}" for what in found.not_compared)]]


@pytest.mark.parametrize(("file", "outcome"), [("judged.txt", judged), ("drift.txt", differences)])
def test_results_match_their_cases(file, outcome, request):
    case_files.check(FOLDER / file, case_files.read(FOLDER / file), outcome, request.config.getoption("--update-goldens"))


def test_cases_cover_every_group_of_differences():
    lines = {line.partition(": ")[0] for case in case_files.read(FOLDER / "drift.txt") for line in case.expected}
    assert {f"-> {group}" for group in drift.GROUPS} <= lines
    assert all(why.endswith(".") for why in drift.GROUPS.values())
