"""Pages and examples are parsed strictly: a mistake is an error instead of an incomplete page."""

import re
import shlex
import shutil
import subprocess

import changes
import pytest

from gpucheck.core.engine import manual
from gpucheck.core.engine.discovery import load_rules

PAGE = """The state of the world.

Symptom:
    an error text
      indented further

    after a blank line
Cause:
    why
Fix:
    1. do this
Verify:
    look
Unless:
    never mind
Example:
    machine: laptop-cpu
    driver.status = "failed"
    gpus.gpus[0].name = null
    -> A sentence that is
    long.
References:
    https://example.org
"""


def test_sections_are_unindented_and_ordered():
    page = manual.page("a-code", PAGE)
    assert page.title == "The state of the world."
    assert page.sections["Symptom"] == "an error text\n  indented further\n\nafter a blank line"
    assert tuple(page.sections) == manual.SECTIONS


def test_example_of_a_page_is_parsed():
    example = manual.page("a-code", PAGE).example
    assert example == ("laptop-cpu", (("driver.status", "failed"), ("gpus.gpus[0].name", None)), "A sentence that is long.")


def test_missing_section_is_an_error():
    with pytest.raises(ValueError, match="missing \\['Unless'\\]"):
        manual.page("a-code", PAGE.replace("Unless:\n    never mind\n", ""))


def test_unknown_section_is_an_error():
    with pytest.raises(ValueError, match="unknown \\['Remarks'\\]"):
        manual.page("a-code", PAGE + "Remarks:\n    no\n")


@pytest.mark.parametrize("line", ["driver.status: 3", "nonsense"])
def test_invalid_line_of_an_example_is_an_error(line):
    with pytest.raises(ValueError, match="invalid line"):
        _ = manual.page("a-code", PAGE.replace('driver.status = "failed"', line)).example


def test_example_without_its_sentence_is_an_error():
    with pytest.raises(ValueError, match=r"has no .-> . line"):
        _ = manual.page("a-code", PAGE.replace("    -> A sentence that is\n    long.\n", "")).example


def test_apply_changes_a_copy():
    facts = {"gpus": {"gpus": [{"name": "a"}]}}
    changed = changes.apply(facts, (("gpus.gpus[0].name", "b"), ("pci.readable", False), ("driver", None)))
    assert changed == {"gpus": {"gpus": [{"name": "b"}]}, "pci": {"readable": False}, "driver": None}
    assert facts == {"gpus": {"gpus": [{"name": "a"}]}}


@pytest.mark.parametrize("path", ["gpus.gpus[3].name", "gpus.gpus[0].name.first"])
def test_apply_rejects_missing_paths(path):
    with pytest.raises(ValueError, match="path in an example not found"):
        changes.apply({"gpus": {"gpus": [{"name": "a"}]}}, ((path, 1),))


def test_pages_do_not_hard_code_the_tensorflow_requirement():
    written = r"tensorflow\[and-cuda\]=="
    assert [rule.code for rule in load_rules() if re.search(written, rule.doc)] == []


def commands():
    """Yield the code and command of every command on every page."""
    for rule in load_rules():
        fixes = manual.page_of(rule).fixes
        yield from ((rule.code, fix.command) for fix in fixes if fix.command)
        yield from ((rule.code, line) for line in re.findall(r"^ {4}\$ (.*)$", rule.doc, re.MULTILINE))


def test_command_lines_are_valid_shell_without_prose():
    prose = {"a", "and", "on", "or", "the", "to", "under", "when", "where", "while", "with"}
    assert [(code, line) for code, line in commands() if prose & set(shlex.split(line.replace("'\\''", "")))] == []
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    script = "".join(f"f() {{\n{line}\n}}\n" for _, line in commands())
    parsed = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
    assert (parsed.returncode, parsed.stderr) == (0, "")
