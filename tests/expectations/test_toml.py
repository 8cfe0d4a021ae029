"""Reading with line numbers, and writing text that a third-party parser can read back."""

import datetime
import math

import pytest
from case_files import table

from gpucheck.core.expectations import toml

DOCUMENT = '''# comment with [brackets] and a = b
top = 1
"quoted key" = "a [string] with = # in it"
many = [
  1, 2, # comment ]
  3,
]
text = """
[not.a.table]
no = 1
"""
inline = { a = { b = 2 } }

[ gpu . "names" ]
dotted.key = 1
[[mute]]
code = "a"
[[mute]]
code = "b"
[mute.more]
x = 1
'''


@table
def test_line_of_a_key_path(path, line):
    toml.load(DOCUMENT, "x")
    assert toml.line(DOCUMENT, path) == line


@pytest.mark.parametrize("text", ["a" * 9, "x = " + "[" * 5000])
def test_invalid_toml_is_reported_with_name_and_reason(text):
    with pytest.raises(toml.Problem, match=r"^f\.toml(:\d+)?: not TOML: ."):
        toml.load(text, "f.toml")


VALUES = [
    "", "plain", 'quote " backslash \\ ', "new\nline\ttab\r", "\x00\x1b\x7f\x80", "Grüße, 你好 🙂", "\u2028", "'''", '"""',
    True, False, 0, -5, 10**15, 1.5, 1e300, 1e-9, 1e16, math.inf, [], ["a", 1], {"a": {"b": [1.0]}, "odd key\n": "x", "": 1}, {},
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_written_values_can_be_read_back(value):
    assert toml.load(f"x = {toml.value(value)}\n", "x")["x"] == value


def test_every_character_can_be_read_back():
    text = "".join(map(chr, [*range(0x300), *range(0x2000, 0x2100), 0xFFFE, 0x1F600]))
    assert toml.load(f"x = {toml.string(text)}\n", "x")["x"] == text


def test_lone_surrogate_is_replaced():
    written = toml.string("a\udcff")
    assert toml.load(f"x = {written}\n", "x")["x"] == "a\ufffd"


def test_unusual_keys_can_be_read_back():
    for name in ("plain-key_1", "with space", 'quote"', "", "ü", "a.b"):
        assert toml.load(f"{toml.key(name)} = 1\n", "x") == {name: 1}


def test_values_without_a_toml_form_raise_type_error():
    for value in (None, datetime.date(2026, 1, 1), object(), [None]):
        with pytest.raises(TypeError, match="no TOML"):
            toml.value(value)
