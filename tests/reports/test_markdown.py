import re

import pytest
from reports.cases import CASES
from reports.hostile import INJECTION, dirty, leaks, long, many, named, redacted

from gpucheck.core.reports import markdown


def outside_code(text):
    """The text without fences and code spans: what a renderer reads as markup."""
    text = re.sub(r"(?ms)^ *(`{3,})\w*\n.*?^ *\1$", "", text)
    return re.sub(r"(?s)(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


@pytest.mark.parametrize("make", [*CASES.values(), long, dirty, lambda: named(INJECTION)], ids=[*CASES, "long", "dirty", "named"])
def test_text_from_the_machine_is_escaped(make):
    text = markdown.render(make())
    text.encode("utf-8")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text)
    prose = outside_code(text)
    assert set(re.findall(r"(?<!\\)<(/?[a-z!]+)", prose)) <= {"details", "/details", "summary", "/summary", "!"}
    assert not re.search(r"@(?!<!-- -->)", prose)
    assert not re.search(r"#\d", prose)
    assert prose.count("<details>") == prose.count("</details>")


def test_secrets_are_redacted():
    assert leaks(markdown.render(redacted())) == []


def test_command_with_backticks_stays_in_its_fence():
    text = markdown.render(many(1, "```\nnot code"), facts=False)
    assert "````sh\n   echo ```\n   not code\n   ````" in text


def test_report_fits_into_a_github_issue():
    assert "## Facts" in markdown.render(CASES["fail-gpu-3"]())
    assert len(markdown.render(CASES["fail-gpu-3"]())) < 65_000
    assert "Omitted because too long:" in markdown.render(many(1, "x" * 200_000))


def test_tables_keep_their_columns():
    for line in markdown.render(named("a|b `c`"), facts=False).splitlines():
        if line.startswith("| one_device |"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 10
