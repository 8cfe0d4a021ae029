"""The output matches the vendors' documents for known machines (tests/cases/setup/machines.json).

Each has the description for --for, further options, the truth with its source, and patterns: every one of ``right`` must be found in
the output, none of ``wrong`` may be (letter case does not count, and a dot matches a new line).
"""

import json
import pathlib
import re
import sys

import command
import pytest

CASES = pathlib.Path(__file__).parents[1] / "cases" / "setup" / "machines.json"


def problems(case):
    """The patterns that a machine's answer violates, and its output."""
    done = command.gpucheck("setup", "--for", case["for"], *case["options"])
    text = done.stdout + done.stderr
    missing = [pattern for pattern in case["right"] if not re.search(pattern, text, re.IGNORECASE | re.DOTALL)]
    found = [pattern for pattern in case["wrong"] if re.search(pattern, text, re.IGNORECASE | re.DOTALL)]
    return [*(f"lacks {pattern}" for pattern in missing), *(f"has {pattern}" for pattern in found)], text


CASES_READ = json.loads(CASES.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES_READ, ids=lambda case: f"{case['id']}: {case['for']} {' '.join(case['options'])}".strip())
def test_output_matches_the_documents_of_the_vendors(case):
    wrong, text = problems(case)
    assert not wrong, f"{case['truth']}\n{text}"


if __name__ == "__main__":
    results = [(case, *problems(case)) for case in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))]
    for case, wrong, text in results:
        if wrong:
            print(f"== {case['id']} {case['for']} {case['options']}\n  {case['truth']}\n  {case['source']}")
            print("\n".join([*(f"  {line}" for line in wrong), text]))
    print(f"{sum(not wrong for _, wrong, _ in results)} of {len(results)} right")
