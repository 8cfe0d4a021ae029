"""Each mistake in the ways in which people make it, by rule in lint_mistakes: the code that has to come out, and nothing else."""

import importlib
import textwrap
from pathlib import Path

import pytest

from gpucheck.lint.pages import load_rules
from gpucheck.lint.runner import lint_text

RULES = load_rules()
MISTAKES = {
    file.stem.replace("_", "-"): importlib.import_module(f"lint_mistakes.{file.stem}").PROGRAMS
    for file in sorted((Path(__file__).parent.parent / "lint_mistakes").glob("*.py"))
}


@pytest.mark.parametrize(("code", "name"), [(code, name) for code, programs in MISTAKES.items() for name in programs])
def test_found(code, name):
    assert {problem.code for problem in lint_text(textwrap.dedent(MISTAKES[code][name]), RULES)} == {code}


def test_enough_of_each():
    assert {rule.code for rule in RULES} == MISTAKES.keys()
    assert min(map(len, MISTAKES.values())) >= 5
