"""Harmless lines that look like errors: each has a reason, is counted, and is never an alarm."""

from case_files import table
from log_cases import FOLDER, read_toml

from gpucheck.core.logs.reading import parse
from gpucheck.core.logs.reading.reader import HARMLESS

CASES = read_toml(FOLDER / "harmless.toml")
# events of harmless lines that rules may use
ALLOWED = {
    "allocation-retried",
    "backend-unavailable",
    "cpu-fallback",
    "cuda-diagnostics",
    "driver-older-than-ptxas",
    "float16-used",
    "optional-library-missing",
    "xla-service",
}


def test_harmless_lines_are_counted_with_their_reason() -> None:
    wrong = []
    for text in CASES["harmless"]:
        log = parse(text.split("\n"), "test")
        if not (
            log.harmless_lines == len(text.split("\n"))
            and [(event.kind, event.line) for event in log.harmless] == [("harmless", 1)]
            and len(log.harmless[0].fields["reason"]) > 20
            and "\x1b" not in log.harmless[0].text
            and log.suspects == ()
            and {event.kind for event in log.events} <= ALLOWED
        ):
            wrong.append((text, log))
    assert wrong == []


def test_similar_lines_are_not_harmless() -> None:
    assert [text for text in CASES["not_harmless"] if parse(text.split("\n"), "test").harmless_lines] == []


def test_lines_without_an_event_give_none_with_any_header() -> None:
    heads = (
        "E0000 00:00:1795191869.698545    9755 some_file.cc:52] ",
        "2026-11-20 17:28:29.082674: E tensorflow/some/file.cc:95] ",
    )
    assert [text for text in CASES["no_event"] for head in heads if parse([head + text], "test").events] == []


def test_events_of_small_logs() -> None:
    wrong = []
    for case in CASES["log"]:
        kinds = sorted(event.kind for event in parse(case["text"].split("\n"), "test").events)
        if kinds != sorted(case["kinds"]):
            wrong.append((case, kinds))
    assert wrong == []


def test_distinct_harmless_lines_are_kept_and_all_are_counted() -> None:
    lines = [line.replace("\n", " ") for line in CASES["harmless"]]
    log = parse(lines * 300, "test")
    assert log.harmless_lines == 300 * len(lines)
    reasons = [event.fields["reason"] for event in log.harmless]
    assert len(set(reasons)) == len(reasons) <= HARMLESS
    assert [event.line for event in log.harmless] == sorted(event.line for event in log.harmless)


@table
def test_continued_training_cancels_an_alarm(alarm: str) -> None:
    assert parse([alarm], "test").harmless == ()
    log = parse([alarm, "9/9 ━━━━ 1s 20ms/step - loss: 0.5"], "test")
    assert [(event.line, log.harmless_lines) for event in log.harmless] == [(1, 1)]
    assert parse(["9/9 ━━━━ 1s 20ms/step - loss: 0.5", alarm], "test").harmless == ()
