"""The cases of tests/cases/rules: what the examples of the pages do not show."""

import pytest
import rule_cases

FILES = sorted(path.name for path in rule_cases.FOLDER.iterdir() if path.name != "parts.txt")


@pytest.mark.parametrize("file", FILES)
def test_cases(file, request):
    path = rule_cases.FOLDER / file
    cases = list(rule_cases.read(path))
    if request.config.getoption("--update-goldens"):
        path.write_text(rewritten(path.read_text(), cases))
        return
    wrong = [(f"{case.title}, line {case.first + 1}", rule_cases.outcome(case), case.expected) for case in cases]
    assert [entry for entry in wrong if entry[1] != entry[2]] == []


def rewritten(text, cases):
    """The file's text with the lines that come out now."""
    lines = text.splitlines()
    for case in reversed(cases):
        lines[case.first : case.first + len(case.expected)] = rule_cases.outcome(case)
    return "\n".join(lines) + "\n"


def test_every_line_is_understood():
    for file in FILES:
        lines = rule_cases.FOLDER.joinpath(file).read_text().splitlines()
        known = [line for case in rule_cases.read(rule_cases.FOLDER / file) for line in [*case.given, *case.expected]]
        assert [line for line in lines if line and not line.startswith(("#", "[", "--")) and line not in known] == []
