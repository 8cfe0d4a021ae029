"""Every error text that a page lists as a symptom leads to this page: ``explain`` names its code, or a code that a lint rule explains."""

import pytest

from gpucheck.commands.explain.table import load_rules
from gpucheck.core.engine import manual
from gpucheck.core.logs import causes
from gpucheck.core.logs.reading import parse

RULES = {rule.code: rule for rule in load_rules()}


@pytest.mark.parametrize("code", RULES)
def test_explain_names_the_code_of_each_symptom(code):
    rule = RULES[code]
    page = manual.page_of(rule)
    assert page.messages or page.signs
    for message in page.messages:
        assert causes.judge(parse(message.splitlines(), "test")).keys() & {code, *rule.explains}, message


def test_every_cause_has_an_error_text():
    without = {code for code in causes.CODES if not manual.page_of(RULES[code]).messages}
    assert without == set()
