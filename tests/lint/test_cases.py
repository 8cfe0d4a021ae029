"""The programs of tests/cases/lint: in a rule's folder, each line marked ``# finding`` has a finding of that rule.

``# finding: CODE, CODE`` marks a line with findings of these rules.
Programs in ``quiet`` have none: they are correct, or no mistake is certain. They include TensorFlow's and Keras' own guides.
"""

import ast
import pathlib
import re
import textwrap

import pytest

from gpucheck.commands.lint import source
from gpucheck.commands.lint.names import canonical
from gpucheck.commands.lint.pages import ROWS, load_rules
from gpucheck.commands.lint.runner import lint_program
from gpucheck.commands.lint.script import Script
from gpucheck.core.engine import manual
from gpucheck.core.engine.discovery import load_rules as load_machine_rules

CASES = pathlib.Path(__file__).parent.parent / "cases" / "lint"
PROGRAMS_MIN = 5  # per rule, because one spelling does not cover the others
RULES = {rule.code: rule for rule in load_rules()}


def lint_text(text, rules):
    return lint_program(source.Program(text, (), written=text), rules, "<text>")


def programs(folder):
    """Yield the name and text of every program, in order."""
    paths = sorted(folder.rglob("*.py"))
    assert paths, f"no program in {folder.relative_to(CASES.parent)}: a folder is named after the code, with - and not _"
    return [(path.name, path.read_text(encoding="utf-8")) for path in paths]


def marks(text, code):
    """Yield the line and the code of each finding that a program marks."""
    for number, line in enumerate(text.splitlines(), 1):
        if mark := re.search(r"  # finding(?:: (.+))?$", line):
            yield from ((number, name) for name in (mark[1] or code).split(", "))


@pytest.mark.parametrize("code", RULES)
def test_findings_are_on_the_marked_lines(code):
    wrong = []
    for name, text in programs(CASES / code):
        marked = list(marks(text, code))
        found = [(problem.line, problem.code) for problem in lint_text(text, RULES.values())]
        if sorted(found) != sorted(marked) or not found:
            wrong.append(f"{name}: found {found}, marked with '# finding' {marked}")
    assert wrong == [], "each marked line has these findings, and no line has another"


@pytest.mark.parametrize("topic", sorted(path.name for path in CASES.joinpath("quiet").iterdir()))
def test_quiet_programs_have_no_finding(topic):
    wrong = []
    for name, text in programs(CASES / "quiet" / topic):
        script = Script(ast.parse(text), written=text)  # runs every rule, even if its words are not in the text
        found = [(rule.code, problem) for rule in RULES.values() for problem in rule.check(script)]
        wrong += [(name, problem) for problem in [*lint_text(text, RULES.values()), *found]]
    assert wrong == []


def test_every_rule_has_enough_programs():
    assert {path.name for path in CASES.iterdir() if path.is_dir()} == {*RULES, "quiet"}
    counts = {code: len(programs(CASES / code)) for code in RULES}
    few = {code: count for code, count in counts.items() if count < PROGRAMS_MIN}
    assert few == {}, f"each rule has {PROGRAMS_MIN} programs in tests/cases/lint/CODE, with different imports and spellings"
    assert len(programs(CASES / "quiet")) >= 120


@pytest.mark.parametrize("code", RULES)
def test_rules_use_canonical_names(code):
    tree = ast.parse(pathlib.Path(RULES[code].check.__code__.co_filename).read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names = [text for text in texts if re.fullmatch(r"(tensorflow|keras|tf_keras|keras_core)(\.\w+){2,}", text)]
    wrong = {name: canonical(name) for name in names if canonical(name) != name}
    assert wrong == {}, "no program has these names: canonical() in commands/lint/names.py makes them"


@pytest.mark.parametrize("code", RULES)
def test_example_of_a_manual_page(code):
    shown = re.fullmatch(r"bad:\n(.+?)\ngood:\n(.+)", manual.page_of(RULES[code]).sections["Example"], flags=re.DOTALL)
    assert shown, "an example is 'bad:' and 'good:' with indented code"
    bad, good = map(textwrap.dedent, shown.groups())
    problems = lint_text(bad, RULES.values())
    assert {problem.code for problem in problems} == {code}
    assert problems[0].message.endswith(".")
    assert "\n" not in problems[0].message
    assert problems[0].fix
    assert lint_text(good, RULES.values()) == []


def test_codes_differ_from_machine_rules():
    assert not RULES.keys() & {rule.code for rule in load_machine_rules()}
    assert {rule.row for rule in RULES.values()} == set(ROWS)
