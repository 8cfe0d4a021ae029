"""Print the ten slowest patterns, each on its worst text: python tools/slow_patterns.py [NUMBER]

Columns: milliseconds of CPU on 4, 16 and 64 KB, and the growth from 16 to 64 KB: 4 is linear, 16 quadratic. Texts are generated
from the pattern itself. The log reader passes at most 4 KB to a pattern, redaction reads texts of any length in windows of 64 KB.
"""

import heapq
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))

import slow_text

from gpucheck.core.logs.reading import patterns as log_patterns
from gpucheck.core.logs.reading import reader
from gpucheck.core.reports.redaction import names, pairs, shapes

SIZES = (1 << 12, 1 << 14, 1 << 16)
JUDGES = ("PUBLIC", "NUMBERED", "SSH", "VERSIONED", "VERSION_BEFORE", "FOLDER_VARIABLES")  # only used on short texts
TRIED = 200  # texts for each pattern
USELESS_SECONDS = 2.0  # on the middle size; above it, the longest text is skipped


def patterns():
    """Yield the name, the pattern, and whether it is searched everywhere in a text."""
    yield from {
        regex: (f"log: {entry.kind}", log_patterns.compiled(regex), False) for entry in reader.PATTERNS for regex in entry.regexes
    }.values()
    for number, shape in enumerate((*shapes.ANNOUNCED, *shapes.SHAPES)):
        yield f"redaction: shape {number}", shape.regex, True
    for module in (shapes, pairs, names):
        for name, pattern in vars(module).items():
            if isinstance(pattern, re.Pattern) and name not in JUDGES:
                yield f"redaction: {module.__name__.rpartition('.')[2]}.{name}", pattern, True


def measured(pattern, everywhere):
    """Return the CPU seconds for each size of the worst text, chosen at the shortest size, and the beginning of this text."""

    def search(text):
        for _ in pattern.finditer(text) if everywhere else [pattern.search(text)]:
            pass

    short = [
        (slow_text.seconds(search, slow_text.text(*attack, SIZES[0])), attack) for attack in slow_text.attacks(pattern)[:TRIED]
    ]
    taken, attack = max(short, default=(0.0, ("", "")))
    times = [taken]
    for size in SIZES[1:]:
        times.append(
            slow_text.seconds(search, slow_text.text(*attack, size))
            if times[-1] < USELESS_SECONDS and attack[1]
            else float("nan")
        )
    return times, (attack[0] + attack[1])[:40]


def main():
    """Measure all patterns and print the slowest."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    rows = [(*measured(pattern, everywhere), name) for name, pattern, everywhere in patterns()]
    print(f"{len(rows)} patterns\n{'4 KB':>9}{'16 KB':>9}{'64 KB':>10} ms {'growth':>7}  pattern, and how its worst text begins")
    for times, text, name in heapq.nlargest(most, rows, key=lambda row: row[0]):
        growth = times[2] / times[1] if times[1] else float("nan")
        print("{:9.2f}{:9.2f}{:10.2f}    {:7.1f}  {} {!r}".format(*(1000 * time for time in times), growth, name, text))


if __name__ == "__main__":
    main()
