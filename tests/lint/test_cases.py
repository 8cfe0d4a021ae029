"""The programs of tests/cases/lint: those of a rule's folder have a finding of that rule on each line marked ``# finding``.

Those of ``quiet`` have none: nothing is wrong in them, or nothing is certain. TensorFlow's and Keras' own guides are among them.
"""

import ast
import pathlib

import pytest

from gpucheck.commands.lint import source
from gpucheck.commands.lint.pages import ROWS, example, load_rules
from gpucheck.commands.lint.runner import lint_program
from gpucheck.commands.lint.script import Script
from gpucheck.core.engine import manual
from gpucheck.core.engine.plugin import load_rules as load_machine_rules

CASES = pathlib.Path(__file__).parent.parent / "cases" / "lint"
RULES = {rule.code: rule for rule in load_rules()}


def lint_text(text, rules):
    return lint_program(source.Program(text, (), written=text), rules, "<text>")


def programs(folder):
    """Name and text of every program, in order; at least one."""
    paths = sorted(folder.rglob("*.py"))
    assert paths, folder
    return [(path.name, path.read_text(encoding="utf-8")) for path in paths]


@pytest.mark.parametrize("code", RULES)
def test_mistakes_are_found_where_they_are_marked(code):
    wrong = []
    for name, text in programs(CASES / code):
        marked = [(number, code) for number, line in enumerate(text.splitlines(), 1) if line.endswith("  # finding")]
        found = [(problem.line, problem.code) for problem in lint_text(text, RULES.values())]
        if found != marked or not found:
            wrong.append((name, found))
    assert wrong == []


@pytest.mark.parametrize("topic", sorted(path.name for path in CASES.joinpath("quiet").iterdir()))
def test_quiet_programs_have_no_finding(topic):
    wrong = []
    for name, text in programs(CASES / "quiet" / topic):
        script = Script(ast.parse(text), written=text)  # asks every rule, also where its words do not stand in the text
        found = [(rule.code, problem) for rule in RULES.values() for problem in rule.check(script)]
        wrong += [(name, problem) for problem in [*lint_text(text, RULES.values()), *found]]
    assert wrong == []


def test_there_are_enough_programs():
    assert {path.name for path in CASES.iterdir() if path.is_dir()} == {*RULES, "quiet"}
    assert [code for code in RULES if len(programs(CASES / code)) < 5] == []
    assert len(programs(CASES / "quiet")) >= 120


@pytest.mark.parametrize("code", RULES)
def test_the_example_of_a_page(code):
    shown = example(manual.page(code, RULES[code].doc))
    problems = lint_text(shown.bad, RULES.values())
    assert {problem.code for problem in problems} == {code}
    assert problems[0].message.endswith(".")
    assert "\n" not in problems[0].message
    assert problems[0].fix
    assert lint_text(shown.good, RULES.values()) == []


def test_codes_are_not_those_of_machine_rules():
    assert not RULES.keys() & {rule.code for rule in load_machine_rules()}
    assert {rule.row for rule in RULES.values()} == set(ROWS)


def test_an_example_needs_both_programs():
    page = manual.page("a", RULES["no-prefetch"].doc)
    with pytest.raises(ValueError, match="bad"):
        example(page._replace(sections={**page.sections, "Example": "bad:\n    x\n"}))
