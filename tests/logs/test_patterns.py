import re

import pytest

from gpucheck.logs.reading import patterns


def test_literals_are_plain_lower_case() -> None:
    literals = [literal for pattern in patterns.load() for literal in pattern.literals]
    assert [literal for literal in literals if not literal or literal != literal.lower()] == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("no attribute 'keras'", "no attribute 'keras'"),
        ("'keras' is missing", "'keras' is missing"),
        ("'a' and 'b'", "'a' and 'b'"),
        ("cannot import `tf.x()`;", "cannot import `tf.x()`"),
        ("'driver not loaded',", "driver not loaded"),
        ("can't open it'", "can't open it"),
        ('", "', None),
    ],
)
def test_quotation_marks_stay_in_pairs(text, kept):
    found = patterns.named(re.match("(?P<message>.*)", text))
    assert found.get("message") == kept
