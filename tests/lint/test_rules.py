"""Every page's example: the bad program raises exactly this code, the good one nothing."""

import pytest

from gpucheck.engine import manual
from gpucheck.engine.plugin import load_rules as load_machine_rules
from gpucheck.lint.pages import ROWS, example, load_rules
from gpucheck.lint.runner import lint_text

RULES = {rule.code: rule for rule in load_rules()}


@pytest.mark.parametrize("code", RULES)
def test_example(code):
    programs = example(manual.page(code, RULES[code].doc))
    found = lint_text(programs.bad, RULES.values())
    assert {problem.code for problem in found} == {code}
    assert found[0].message.endswith(".")
    assert len(found[0].message.splitlines()) == 1
    assert found[0].fix
    assert lint_text(programs.good, RULES.values()) == []


def test_codes_are_not_those_of_machine_rules():
    assert not RULES.keys() & {rule.code for rule in load_machine_rules()}
    assert {rule.row for rule in RULES.values()} == set(ROWS)
    assert len(RULES) == 15


def test_an_example_needs_both_programs():
    page = manual.page("a", RULES["no-prefetch"].doc)
    with pytest.raises(ValueError, match="bad"):
        example(page._replace(sections={**page.sections, "Example": "bad:\n    x\n"}))
