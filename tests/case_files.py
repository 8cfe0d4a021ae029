"""Files of cases: what is given, and below it the lines that must come out. `rule_cases` and `probe_cases` say what the lines mean.

[A title says what the cases have in common]
# Why this is so, in a sentence.
given for all cases of this title
-- what is different in this case, or its name
given for this case
-> what must come out
"""

import re
from pathlib import Path
from typing import NamedTuple

CASES = Path(__file__).parent / "cases"


class Case(NamedTuple):
    """What is given, and what must come out."""

    title: str
    name: str  # what stands behind "--"; "" without
    first: int  # the place of its first expected line in the file
    given: list[str]  # a line that ends with a colon has the indented lines below it, too
    expected: list[str]


def read(path, expected=re.compile("-> ")):
    """The cases of a file; ``expected`` tells the lines that must come out from those that are given."""
    title, name, shared, own, wanted, first = "", "", [], [], [], 0
    for place, line in enumerate([*path.read_text().splitlines(), "["]):
        if wanted and not expected.match(line):
            yield Case(title, name, first, [*shared, *own], wanted)
            own, wanted = [], []
        if line.startswith("["):
            assert not own, (path, place)
            title, name, shared = line.strip("[]"), "", []
        elif line.startswith("--"):
            name, shared, own = line.strip("- "), [*shared, *own], []
        elif expected.match(line):
            first = first if wanted else place
            wanted = [*wanted, line]
        elif line.startswith("    "):
            own[-1] += line[4:] + "\n"
        elif line and not line.startswith("#"):
            own = [*own, line + "\n" if line.endswith(":") else line]


def check(path, cases, outcome, update):
    """Fail with every case of which something else comes out; or write the file anew with what comes out."""
    if not update:
        outcomes = [(case.title, f"line {case.first + 1}", outcome(case), case.expected) for case in cases]
        assert [entry for entry in outcomes if entry[2] != entry[3]] == []
        return
    lines = path.read_text().splitlines()
    for case in reversed(list(cases)):
        lines[case.first : case.first + len(case.expected)] = outcome(case)
    path.write_text("\n".join(lines) + "\n")
