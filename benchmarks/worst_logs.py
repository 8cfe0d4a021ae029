"""Measure how fast `gpucheck explain` reads its worst logs: python benchmarks/worst_logs.py [--megabytes N] [SHAPE]...

Each shape attacks one step of the reader. Prints megabytes per second of CPU, the slowest first. Every line has a different
word, so the reader can't reuse the result of an earlier line.
"""

import argparse
import itertools
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))

import slow_text

from gpucheck.core.logs.causes import judge
from gpucheck.core.logs.reading import parse, patterns, reader
from gpucheck.core.logs.reading.mentions import Listing

LETTERS = "ghijklmnopqrstuvwxyz"  # no hexadecimal digits: the reader ignores numbers when it compares lines
LINE = 2000  # characters


def words():
    """Yield a different word for each line."""
    return map("".join, itertools.product(LETTERS, repeat=7))


def literals():
    """Return the literals of all patterns."""
    return sorted({literal for entry in reader.PATTERNS for literal in entry.literals if literal.isascii()})


def attacks():
    """Return the worst text of each slow pattern, after a literal that makes the reader try the pattern."""
    taken = []
    for entry in {entry.regex: entry for entry in reader.PATTERNS}.values():
        pattern = re.compile(patterns.bounded(entry.regex))
        for start, part in slow_text.attacks(pattern)[:40]:
            text = f"{slow_text.text(start, part, LINE - 100)} {entry.literals[0]}"
            taken.append((slow_text.seconds(pattern.search, text), text))
    return [text for _, text in sorted(taken, reverse=True)[:12]]


def real():
    """Return the lines of all recorded logs."""
    folder = pathlib.Path(__file__).resolve().parent.parent / "tests" / "cases" / "logs" / "texts"
    return [line for path in sorted(folder.rglob("*.log")) for line in path.read_text(errors="replace").splitlines()]


def packed(texts, size=LINE):
    """Join the texts into lines of about this size."""
    lines = [""]
    for text in texts:
        if len(lines[-1]) + len(text) > size:
            lines.append("")
        lines[-1] += f" {text}"
    return lines


SHAPES = {
    "literals, long lines": lambda: packed(literals()),
    "literals, one a line": literals,
    "literals, lines of 100": lambda: packed(literals(), 100),
    "attacks": attacks,
    "real lines": real,
    "real lines, joined": lambda: packed(real()),
    "cells of a table": lambda: [f"|{line.replace(' ', '|')}|" for line in packed(literals(), 1000)],
    "escaped in a string": lambda: ['{"message": "' + line.replace(" ", "\\n") + '"}' for line in packed(literals())],
    "entities": lambda: [line.replace(" ", "&lt;") for line in packed(literals())],
    "overwritten in place": lambda: [line.replace(" ", "\r") for line in packed(literals(), 200)],
    "prefixes": lambda: ["[1,2]<stdout>: rank 0: | > # 3: [info] " * 8 + literal for literal in literals()],
    "colors": lambda: ["".join(f"\x1b[1m{sign}" for sign in line) for line in packed(literals(), 400)],
    "traces": lambda: ['  File "train.py", line 3, in fit', "tensorflow.python error", "failed", "call", "x" * 50],
    "short lines": lambda: ["a"],
    "empty lines": lambda: [None],
    "digits": lambda: ["1234567890 " * 9],
    "beginnings of literals": lambda: ["".join(literal[:-1] for literal in literals())[:LINE]],
    "other alphabets": lambda: ["".join(entry.literals[0][:-1] for entry in reader.PATTERNS if not entry.literals[0].isascii())],
    "no line ends": lambda: [line * 40 for line in packed(literals())],
}


def lines(shape, size):
    """Return lines of a shape, with this many characters in total."""
    texts, names = SHAPES[shape](), words()
    for text in itertools.cycle(texts):
        line = "\n" if text is None else "a\n" if text == "a" else f"{next(names)} {text}\n"
        size -= len(line)
        if size < 0:
            return
        yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"of {', '.join(SHAPES)}; all by default")
    parser.add_argument("--megabytes", type=float, default=4.0)
    args = parser.parse_args()
    parse(["failed error"], "log")  # warm-up for objects created on first use
    speeds = {}
    for shape in args.shapes or SHAPES:
        log = list(lines(shape, int(args.megabytes * 1e6)))
        size = sum(map(len, log))
        began = time.process_time()
        judge(parse(Listing().through(log), "log", time.thread_time))
        speeds[shape] = size / 1e6 / (time.process_time() - began)
    for shape, speed in sorted(speeds.items(), key=lambda item: item[1]):
        print(f"{speed:8.2f} MB/s  {shape}")


if __name__ == "__main__":
    main()
