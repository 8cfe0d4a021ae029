"""Arbitrary output has no commands for CI runners, and JSON keeps its value."""

import json
import re

from fuzz.inputs import fuzzed
from hypothesis import given
from hypothesis import strategies as st

from gpucheck.cli.screen import without_commands

PIECES = st.sampled_from(
    ["::", ":", "#", "##[", "##VSO[", "[", "vso[", "\n", "\r", " ", "\t", "\u2003", "\xa0", "\x85", "a", '"', "\x9b"]
)
TEXTS = st.one_of(st.text(max_size=100), st.lists(PIECES, max_size=30).map("".join))
COMMAND = re.compile(r"(?:^|[\n\r])\s*::|##(?:vso)?\[", re.IGNORECASE)  # as the runners search, lines being trimmed


@fuzzed
@given(TEXTS)
def test_printed_text_has_no_ci_commands(text):
    printed = without_commands(f"x{text}")
    assert not COMMAND.search(printed)
    assert re.sub(r"[ ]", "", printed) == re.sub(r"[ ]", "", f"x{text}")


@fuzzed
@given(st.dictionaries(TEXTS, TEXTS))
def test_printed_json_keeps_its_value(value):
    for ascii in (False, True):
        printed = without_commands(json.dumps(value, ensure_ascii=ascii))
        assert json.loads(printed) == value
        assert not re.search(r"##(?:vso)?\[|[\x7f-\x9f]", printed, re.IGNORECASE)
