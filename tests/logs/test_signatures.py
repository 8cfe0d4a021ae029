import re

import pytest

from gpucheck.logs.reading import signatures


def test_words_are_plain_lower_case() -> None:
    assert [entry for entry in signatures.load() if not entry.must or entry.must != entry.must.lower()] == []


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
    found = signatures.named(re.match("(?P<message>.*)", text))
    assert found.get("message") == kept
