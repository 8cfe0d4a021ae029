"""Every page's example: all rules applied to the changed recorded machine give exactly this root cause."""

import re
import shlex
import subprocess

import changes
import pytest
from fakes import MACHINES, facts, machine

from gpucheck.core.engine import manual
from gpucheck.core.engine.discovery import load_combiners, load_probes, load_rows, load_rules
from gpucheck.core.engine.judgement import fold, judge
from gpucheck.core.model import Request, Status

RULES = {rule.code: rule for rule in load_rules()}
ROWS = load_rows()
PROBES = {"request", *(probe.name for probe in load_probes())}


@pytest.mark.parametrize("code", RULES)
def test_example_of_a_page_gives_exactly_its_code(code):
    example = manual.page_of(RULES[code]).example
    judgements = judge(facts(changes.apply(machine(example.machine), example.changes)), RULES.values())
    crashed = {item.rule.code: item.outcome.reason for item in judgements if item.outcome.status is Status.CRASHED}
    assert crashed == {}
    findings = fold(judgements, ROWS)
    assert [(finding.code, finding.summary) for finding in findings if not finding.explained_by] == [(code, example.summary)]
    assert findings[0].evidence, "a finding without evidence"
    assert {item.fact for item in findings[0].evidence} <= PROBES, "evidence that is in no report"
    assert findings[0].fix, "a finding without a fix"
    assert findings[0].fix[0].kind != "look" or {fix.kind for fix in findings[0].fix} == {"look"}, (
        "commands that only look must come last"
    )


def test_commands_are_valid_shell(tmp_path):
    pages = {code: manual.page_of(rule).fixes for code, rule in RULES.items()}
    commands = {fix.command: code for code, fixes in pages.items() for fix in fixes if fix.command}
    script = tmp_path / "script"
    wrong = []
    for command, code in commands.items():
        script.write_text(command.replace("<UUID>", "UUID"))  # placeholders for the reader
        done = subprocess.run(["sh", "-n", script], capture_output=True, text=True, timeout=60, check=False)
        first = shlex.split(command, comments=True)[0]
        if done.returncode or not re.fullmatch(r"[\w./~+-]+(=.*)?;?", first):
            wrong.append((code, command, done.stderr))
    assert commands
    assert wrong == []


@pytest.mark.parametrize("name", sorted(path.stem for path in MACHINES.glob("*.json")))
def test_healthy_machine_has_no_findings(name):
    judgements = judge(facts(machine(name)), RULES.values())
    assert [
        (item.outcome.code, item.finding or item.outcome.reason)
        for item in judgements
        if item.finding or item.outcome.status is Status.CRASHED
    ] == []


@pytest.mark.parametrize("code", RULES)
def test_rule_is_skipped_without_its_facts(code):
    rule = RULES[code]
    plain = machine("h200")
    for probe in required(rule):
        (judgement,) = judge(facts({**plain, probe: None}), [rule])
        assert judgement.outcome.status is Status.SKIPPED
        assert probe in judgement.outcome.reason


def required(plugin):
    """The probes that a rule requires, including those of its combiners."""
    combiners = {combiner.fact: combiner for combiner in load_combiners()}
    for need in plugin.needs:
        if need.optional or need.fact is Request:
            continue
        yield from required(combiners[need.fact]) if need.fact in combiners else (need.probe,)


def test_explained_codes_exist():
    for rule in RULES.values():
        unknown = set(rule.explains) - RULES.keys()
        assert not unknown, f"{rule.code} explains codes that no rule has: {sorted(unknown)}"
