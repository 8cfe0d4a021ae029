"""Every kind of event: lines from different versions that must give it, and lines close by that must not, by topic in log_lines."""

import importlib
import re
from pathlib import Path

import pytest
from one_line import assert_meant, assert_not_meant, events

from gpucheck.logs.reading import signatures

KNOWN = signatures.load()
TOPICS = {
    file.stem: importlib.import_module(f"log_lines.{file.stem}")
    for file in sorted((Path(__file__).parent.parent / "log_lines").glob("*.py"))
}
MEANT = [
    (kind, text, fields) for topic in TOPICS.values() for kind, cases in topic.MEANT.items() for text, fields in cases
]  # fmt: skip
NOT_MEANT = [(kind, text) for topic in TOPICS.values() for kind, texts in topic.NOT_MEANT.items() for text in texts]


@pytest.mark.parametrize(("kind", "text", "fields"), MEANT)
def test_meant(kind: str, text: str, fields: dict[str, str]) -> None:
    assert_meant(kind, text, fields)


@pytest.mark.parametrize(("kind", "text"), NOT_MEANT)
def test_not_meant(kind: str, text: str) -> None:
    assert_not_meant(kind, text)


def test_every_kind_is_tried_twice_and_once_in_vain() -> None:
    kinds = {signature.kind for signature in KNOWN}
    assert kinds == {kind for kind, _, _ in MEANT} == {kind for kind, _ in NOT_MEANT}
    assert [kind for topic in TOPICS.values() for kind, cases in topic.MEANT.items() if len(cases) < 2] == []


def test_every_topic_has_its_own_lines() -> None:
    for name, topic in TOPICS.items():
        own = {signature.kind for signature in importlib.import_module(f"gpucheck.logs.reading.signatures.{name}").SIGNATURES}
        assert topic.MEANT.keys() <= own, name
        assert topic.MEANT.keys() == topic.NOT_MEANT.keys(), name


def test_words_are_plain_lower_case() -> None:
    assert [signature for signature in KNOWN if not signature.must or signature.must != signature.must.lower()] == []


def test_fields_are_strings() -> None:
    for _, text, _ in MEANT:
        for event in events(text):
            assert all(isinstance(value, str) and value for value in event.fields.values()), event


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
