"""A log whose lines all differ is read in parts: rare lines, its beginning and its end; and the report mentions it."""

import itertools

from gpucheck.commands.explain import report as explanation
from gpucheck.commands.explain.log import explain
from gpucheck.core.logs.reading.batches import batches
from gpucheck.core.logs.reading.reader import Reader
from gpucheck.core.logs.reading.screen import Allowance
from gpucheck.core.model import Report

WORDS = ["".join(letters) for letters in itertools.product("ghijklmnopqrst", repeat=3)]
LINES = [f"{word} failed to look at {word} {'.' * 100}" for word in WORDS]


def read(lines, seconds):
    """The log, if each examined line takes this many seconds."""
    ticks = itertools.count()
    allowance = Allowance(lambda: next(ticks) * seconds)
    reader = Reader(allowance)
    for batch in batches(lines, allowance):
        reader.read(batch)
    return reader.log("log")


def kinds(log):
    return [(event.kind, event.line) for event in log.events]


def test_expensive_log_is_read_in_parts():
    half = len(LINES) // 2
    rare, last = "Unable to register cuFFT factory: CUDA_ERROR_NO_DEVICE", "failed call to cuInit: UNKNOWN ERROR (303)"
    lines = [*LINES[:half], rare, *LINES[half:], last]
    cheap, expensive = read(lines, 0.0), read(lines, 0.01)
    assert cheap.skimmed == 0
    assert 0 < expensive.skimmed < expensive.lines == len(lines)
    assert kinds(expensive) == kinds(cheap) != []


def test_repeated_lines_cost_nothing():
    assert read([f"step {n}: failed to improve" for n in range(100_000)], 0.001).skimmed == 0


def test_skipped_files_are_reported():
    report = explain([("", LINES[:100])], "log")
    log = report.facts["log"]
    text = _rendered(_with(report, skimmed=40))
    assert f"40 of its {log.lines} lines were skipped" in text
    assert "skipped" not in _rendered(report)


def _rendered(report: Report) -> str:
    return explanation.render(report, width=200, color=False, ascii=True, verbose=False)


def _with(report: Report, **changes: int) -> Report:
    import msgspec

    log = msgspec.structs.replace(report.facts["log"], **changes)
    return msgspec.structs.replace(report, facts={**report.facts, "log": log})
