"""Whole logs of which nothing else is known: the cause that each must name, and what must not be taken for one, by topic in log_texts.

A topic has up to four tables:
    NAMED     cause -> logs that name it first, as an error, and no other error that it does not explain
    WARNED    cause -> logs that name it as a warning, and nothing else
    NO_ERROR  logs of what is harmless, over, or not certain: warnings at most
    QUIET     logs about which nothing is said at all
"""

import importlib
from pathlib import Path

import pytest
from one_rule import assert_named, told_by

from gpucheck.model import Severity

TOPICS = [
    importlib.import_module(f"log_texts.{file.stem}")
    for file in sorted((Path(__file__).parent.parent / "log_texts").glob("[!_]*.py"))
]


def of_causes(table):
    """(cause, log) of every topic."""
    return [(code, text) for topic in TOPICS for code, texts in getattr(topic, table, {}).items() for text in texts]


def of_none(table):
    return [text for topic in TOPICS for text in getattr(topic, table, ())]


@pytest.mark.parametrize(("code", "text"), of_causes("NAMED"))
def test_the_cause_is_named(code, text):
    assert_named(code, text)


@pytest.mark.parametrize(("code", "text"), of_causes("WARNED"))
def test_what_may_do_no_harm_is_a_warning(code, text):
    assert [(item.code, item.severity) for item in told_by(text)] == [(code, Severity.WARNING)]


@pytest.mark.parametrize("text", of_none("NO_ERROR"))
def test_what_is_harmless_or_over_is_no_error(text):
    assert [item.code for item in told_by(text) if item.severity is Severity.ERROR] == []


@pytest.mark.parametrize("text", of_none("QUIET"))
def test_of_what_is_harmless_nothing_is_said(text):
    assert told_by(text) == []
