"""Programs in which nothing is wrong, or nothing is certain, by topic in lint_quiet: TensorFlow's and Keras' own guides among them."""

import ast
import importlib
import textwrap
from pathlib import Path

import pytest

from gpucheck.lint.pages import load_rules
from gpucheck.lint.runner import lint_text
from gpucheck.lint.script import Script

RULES = load_rules()
QUIET = {
    file.stem: importlib.import_module(f"lint_quiet.{file.stem}").PROGRAMS
    for file in sorted((Path(__file__).parent.parent / "lint_quiet").glob("*.py"))
}


@pytest.mark.parametrize(("topic", "name"), [(topic, name) for topic, programs in QUIET.items() for name in programs])
def test_quiet(topic, name):
    text = textwrap.dedent(QUIET[topic][name])
    assert [(problem.line, problem.code, problem.message) for problem in lint_text(text, RULES)] == []
    script = Script(ast.parse(text), written=text)  # every rule, also where its words do not stand in the text
    assert [list(rule.check(script)) for rule in RULES if list(rule.check(script))] == []


def test_there_are_enough():
    assert sum(map(len, QUIET.values())) >= 120
