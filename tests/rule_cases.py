"""The cases of tests/cases/rules, in files as `case_files` reads them: a recorded machine, changes, and the expected output.

    machine: hgx-h200                  the recorded machine (default: h200; "nothing": no facts)
    quick                              only the facts that --quick reads
    without: tensorflow, keras         facts that were not read
    with: no GPU listed                the changes of parts.txt that have this title
    container = {"inside": false}      a change as in a page's Example
    gpus.gpus[*].nvlinks = []          the same for every item of a list
    gpus.gpus[+] = {"index": 1}        another item like the first, with this change
    -> ecc-errors error: The sentence. the root causes found by all rules, the first one first; or "nothing"
    gpu-lost skipped: its reason       the result of this rule alone: clear, skipped, or a finding
       for GPU 0                       optional details of a finding: what it affects,
       fix: Reset it                   its repair,
       $ nvidia-smi --gpu-reset        with the command,
       evidence: gpus.gpus[0].result   and its evidence
    set LD_LIBRARY_PATH prepend: /x    the variables that all findings would set, "by hand" if only the user can set them; or "nothing"

``make goldens`` rewrites the expected lines.
"""

import functools
import json
import re
from pathlib import Path

import case_files
from changes import apply
from fakes import facts, machine
from one_rule import ABOVE_QUICK, RULES

from gpucheck.core.engine.discovery import load_rows
from gpucheck.core.engine.judgement import fold, judge
from gpucheck.core.model import Status
from gpucheck.core.system.shells import statement

FOLDER = Path(__file__).parent / "cases" / "rules"
ROWS = load_rows()
EXPECTED = re.compile(r"-> |   |set |[a-z0-9-]+ (clear|skipped|error|warning)\b")
DETAILS = {"   for ": "affects", "   fix: ": "fix", "   $ ": "fix", "   evidence: ": "evidence"}


def read(path):
    """The cases of one file."""
    return case_files.read(path, EXPECTED)


def outcome(case):
    """Return the output lines, in the order and with the details of the expected lines."""
    expected_details = questions(case.expected)
    every = {"->", "set"} & expected_details.keys()
    judgements = judge(facts(plain_facts(case.given)), RULES.values() if every else [RULES[code] for code in expected_details])
    crashed = [f"{item.rule.code}: {item.outcome.reason}" for item in judgements if item.outcome.status is Status.CRASHED]
    assert crashed == []  # also with --update-goldens: a crash is never an expected result
    roots = [finding for finding in fold(judgements, ROWS) if not finding.explained_by]
    alone = {item.rule.code: item for item in judgements}
    lines = []
    for asked, details in expected_details.items():
        if asked == "set":
            lines += assignments(judgements) or ["set nothing"]
            continue
        if asked != "->":
            lines += one_rule(alone[asked], details)
            continue
        for root in roots:
            lines += finding_lines(f"-> {root.code} {root.severity.value}", root, details)
        if not roots:
            lines.append("-> nothing")
    return lines


def assignments(judgements):
    """Lines of the findings' variables, each once, after a check that a repair's command has the same."""
    lines = []
    for finding in (judgement.finding for judgement in judgements if judgement.finding is not None):
        commands = " ".join(fix.command or "" for fix in finding.fix)
        for one in finding.assignments:
            assert statement(one) in commands, finding
            assert one.reason.isprintable(), finding
            suffix = "" if one.apply else " (by hand)"
            lines.append(f"set {one.variable} {one.operation.value}{f': {one.value}' if one.value else ''}{suffix}")
    return list(dict.fromkeys(lines))


def questions(expected):
    """Return the expected subjects: "->" (the roots) or a rule's code, and the details of its findings."""
    asked = {}
    for line in expected:
        if not line.startswith("   "):
            details = asked.setdefault(line.split(" ")[0], set())
        details |= {detail for start, detail in DETAILS.items() if line.startswith(start)}
    return asked


def one_rule(judgement, details):
    """Return the result of one rule."""
    rule, outcome, finding = judgement.rule, judgement.outcome, judgement.finding
    if finding is None:
        return [f"{rule.code} {outcome.status.value}" + (f": {outcome.reason}" if outcome.reason else "")]
    return finding_lines(f"{rule.code} {(finding.severity or rule.severity).value}", finding, details)


def finding_lines(start, finding, details):
    """Return a finding's sentence and the expected details."""
    lines = [f"{start}: {finding.summary}"]
    if "affects" in details:
        lines.append(f"   for {', '.join(finding.affects)}")
    for fix in finding.fix if "fix" in details else ():
        lines += [f"   fix: {fix.text}"] + [f"   $ {fix.command}"] * (fix.command is not None)
    for item in finding.evidence if "evidence" in details else ():
        short = isinstance(item.value, (str, int, float))
        lines.append(f"   evidence: {item.fact}.{item.field}" + f" = {item.value}" * short)
    return [" ".join(line.split("\n")) for line in lines]


def plain_facts(given):
    """The recorded machine with the changes."""
    settings = dict(line.split(": ", 1) for line in given if re.match(r"(machine|without|with): ", line))
    name = settings.get("machine", "h200")
    plain = {} if name == "nothing" else machine(name)
    gone = settings.get("without", "").split(", ")
    if "quick" in given:
        gone = [*gone, *ABOVE_QUICK]
        plain["request"]["level"] = 0
    plain = {probe: fact for probe, fact in plain.items() if probe not in gone}
    parts = [part for line in given if line.startswith("with: ") for part in line[6:].split(", ")]
    changes = []
    for line in [*(change for part in parts for change in PARTS[part]), *given]:
        path, equals, value = line.partition(" = ")
        if "[*]" in path or "[+]" in path:
            plain = apply(plain, tuple(changes))
            changes = every_place(plain, path, json.loads(value))
        elif equals:
            changes.append((path, json.loads(value)))
        else:
            assert line == "quick" or line.split(": ")[0] in ("machine", "with", "without"), line
    return apply(plain, tuple(changes))


def every_place(plain, path, value):
    """The changes for every item of a list if the path has ``[*]``, or for a longer list if it has ``[+]``."""
    before, _, after = path.partition("[*]" if "[*]" in path else "[+]")
    items = functools.reduce(lambda place, name: place[name], before.split("."), plain)
    if "[+]" in path:
        return [(before, [*items, {**items[0], **value}])]
    return [(f"{before}[{place}]{after}", value) for place in range(len(items))]


def parts():
    """Changes shared by several files, by title."""
    found = {}
    for line in FOLDER.joinpath("parts.txt").read_text().splitlines():
        if line.startswith("["):
            changes = found.setdefault(line.strip("[]"), [])
        elif " = " in line:
            changes.append(line)
    return found


PARTS = parts()
