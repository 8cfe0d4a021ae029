"""The cases of tests/cases/rules, which the examples of the pages do not cover."""

import case_files
import pytest
import rule_cases

FILES = sorted(path.name for path in rule_cases.FOLDER.iterdir() if path.name != "parts.txt")


@pytest.mark.parametrize("file", FILES)
def test_findings_match_their_cases(file, request):
    path = rule_cases.FOLDER / file
    case_files.check(path, rule_cases.read(path), rule_cases.outcome, request.config.getoption("--update-goldens"))
