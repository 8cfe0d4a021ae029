"""Logs without a known cause: the lines that look most like failures, the best first."""

from case_files import table

from gpucheck.core.logs.reading import parse
from gpucheck.core.logs.reading.kept import SUSPECTS


def _lines(text: str) -> list[int]:
    return [event.line for event in parse(text.split("\n"), "test").suspects]


def test_exceptions_rank_before_other_failures() -> None:
    text = """starting
connection to the registry failed, trying the next one
ERROR: stage 3 ended
Traceback (most recent call last):
  File "train.py", line 3, in error_handler
    raise ValueError("failed to parse")
ValueError: the shapes (3,) and (4,) do not match
Fatal: giving up"""
    assert _lines(text) == [7, 8, 3, 2]


def test_equal_suspects_are_listed_once_in_order() -> None:
    text = "\n".join(f"[rank{rank}]: KeyError: 'layer_{rank}'" for rank in range(8)) + "\nkeras.errors.OddError: no"
    assert _lines(text) == [1, 9]


def test_at_most_eight_suspects_are_kept() -> None:
    words = [f"{first}{second}{third}" for first in "ghijklm" for second in "nopqrs" for third in "tuvwxyz"]
    log = parse([f"the {word} failed" for word in words] + ["ZeroDivisionError: division by zero"], "test")
    assert [event.line for event in log.suspects] == [len(words) + 1, *range(1, SUSPECTS)]


def test_colors_are_removed() -> None:
    (event,) = parse(["\x1b[1;31mstack smashing detected: terminated\x1b[0m error"], "test").suspects
    assert (event.kind, event.text) == ("suspect", "stack smashing detected: terminated error")


@table
def test_lines_without_failure_are_not_suspects(line: str) -> None:
    assert parse([line], "test").suspects == ()
