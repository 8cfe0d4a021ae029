"""Files of cases: an input and its expected output lines. `rule_cases` and `probe_cases` document the lines.
`table` reads tables of plain values, `program` a program.

[A title that describes the cases below]
# The reason, in a sentence.
given for all cases of this title
-- the difference of this case, or its name
given for this case
-> what must come out
"""

import ast
import itertools
import re
from pathlib import Path
from typing import NamedTuple

import pytest

CASES = Path(__file__).parent / "cases"


class Case(NamedTuple):
    """An input and its expected output."""

    title: str
    name: str  # the text after "--", or ""
    first: int  # the place of its first expected line in the file
    given: list[str]  # a line that ends with a colon has the indented lines below it, too
    expected: list[str]


def read(path, expected=re.compile("-> ")):
    """The cases of a file; ``expected`` matches the lines of expected output."""
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
    """Fail with every case whose output differs; with ``update`` rewrite the file with the output instead."""
    if not update:
        outcomes = [(case.title, f"line {case.first + 1}", outcome(case), case.expected) for case in cases]
        assert [entry for entry in outcomes if entry[2] != entry[3]] == []
        return
    lines = path.read_text().splitlines()
    for case in reversed(list(cases)):
        lines[case.first : case.first + len(case.expected)] = outcome(case)
    path.write_text("\n".join(lines) + "\n")


def table(test):
    """Run a test with each row of its table in cases/tables/FOLDER.txt, whose title names the test and its arguments."""
    file = Path(test.__code__.co_filename).relative_to(CASES.parent)
    lines = (CASES / "tables" / f"{file.parent.name or 'tests'}.txt").read_text(encoding="utf-8").split("\n")
    (start,) = (place for place, line in enumerate(lines) if line.startswith(f"[{file.stem}.{test.__name__}: "))
    names = re.split(", | -> ", lines[start].strip("[]").partition(": ")[2])
    own = itertools.takewhile(lambda line: not line.startswith("[test_"), lines[start + 1 :])
    rows = [values(line) for line in own if line and not line.startswith("#")]
    assert rows
    return pytest.mark.parametrize(names, rows)(test)


def values(row):
    """The values of a row, in Python's notation: 'cpu', (1, 2) -> None"""
    given, arrow, wanted = row.rpartition(" -> ")
    return ast.literal_eval(f"({given}{arrow and ', '}{wanted},)")


def program(name):
    """A program of cases/programs, for another Python to run."""
    return (CASES / "programs" / name).read_text(encoding="utf-8")
