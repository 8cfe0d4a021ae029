"""The programs of tests/cases/lint: those of a rule's folder have a finding of that rule on each line marked ``# finding``.

Those of ``quiet`` have none: nothing is wrong in them, or nothing is certain. TensorFlow's and Keras' own guides are among them.
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
FEWEST = 5  # programs of a rule: one spelling alone says little about the others
RULES = {rule.code: rule for rule in load_rules()}


def lint_text(text, rules):
    return lint_program(source.Program(text, (), written=text), rules, "<text>")


def programs(folder):
    """Name and text of every program, in order."""
    paths = sorted(folder.rglob("*.py"))
    assert paths, f"no program in {folder.relative_to(CASES.parent)}: a folder is named after the code, with - and not _"
    return [(path.name, path.read_text(encoding="utf-8")) for path in paths]


@pytest.mark.parametrize("code", RULES)
def test_mistakes_are_found_where_they_are_marked(code):
    wrong = []
    for name, text in programs(CASES / code):
        marked = [(number, code) for number, line in enumerate(text.splitlines(), 1) if line.endswith("  # finding")]
        found = [(problem.line, problem.code) for problem in lint_text(text, RULES.values())]
        if found != marked or not found:
            wrong.append(f"{name}: found {found}, marked with '# finding' {marked}")
    assert wrong == [], "each marked line has a finding of this rule, and no line has another"


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
    counts = {code: len(programs(CASES / code)) for code in RULES}
    few = {code: count for code, count in counts.items() if count < FEWEST}
    assert few == {}, f"each rule has {FEWEST} programs in tests/cases/lint/CODE, with different imports and spellings"
    assert len(programs(CASES / "quiet")) >= 120


@pytest.mark.parametrize("code", RULES)
def test_rules_name_what_programs_use_in_its_one_form(code):
    tree = ast.parse(pathlib.Path(RULES[code].check.__code__.co_filename).read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    names = [text for text in texts if re.fullmatch(r"(tensorflow|keras|tf_keras|keras_core)(\.\w+){2,}", text)]
    wrong = {name: canonical(name) for name in names if canonical(name) != name}
    assert wrong == {}, "no program has these names: canonical() in commands/lint/names.py makes them"


@pytest.mark.parametrize("code", RULES)
def test_the_example_of_a_page(code):
    shown = re.fullmatch(r"bad:\n(.+?)\ngood:\n(.+)", manual.page_of(RULES[code]).sections["Example"], flags=re.DOTALL)
    assert shown, "an example is 'bad:' and 'good:' with indented code"
    bad, good = map(textwrap.dedent, shown.groups())
    problems = lint_text(bad, RULES.values())
    assert {problem.code for problem in problems} == {code}
    assert problems[0].message.endswith(".")
    assert "\n" not in problems[0].message
    assert problems[0].fix
    assert lint_text(good, RULES.values()) == []


def test_codes_are_not_those_of_machine_rules():
    assert not RULES.keys() & {rule.code for rule in load_machine_rules()}
    assert {rule.row for rule in RULES.values()} == set(ROWS)
