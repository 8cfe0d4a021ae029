"""The reader as a whole: streams, wrapped lines and bounds."""

import random
import tracemalloc
from collections.abc import Iterator

import pytest

from gpucheck.core.logs.reading import parse
from gpucheck.core.logs.reading.kept import KEPT


def _kinds(text: str) -> list[str]:
    return [event.kind for event in parse(text.split("\n"), "test").events]


def test_events_name_their_line_and_cite_it() -> None:
    log = parse(
        ["hello\n", "\x1b[31mI0000 00:00:1.1 2 a.cc:1] Could not find cuda drivers on your machine\x1b[0m\n"], "train.log"
    )
    (event,) = log.events
    assert (log.source, log.lines) == ("train.log", 2)
    assert (event.kind, event.line) == ("cuda-drivers-not-found", 2)
    assert event.text == "I0000 00:00:1.1 2 a.cc:1] Could not find cuda drivers on your machine"


def test_empty_log_has_no_events() -> None:
    assert parse([], "nothing").events == ()
    assert parse([], "nothing").lines == 0


def test_wrapped_line_is_joined() -> None:
    text = (
        "#   2018-10-31 10:35:54.318150: I gpu_device.cc:1469] Ignoring visible gpu device (device: 1, name: Quadro K4000,\n"
        "#   pci bus id: 0000:08:00.0, compute capability: 3.0) with Cuda multiprocessor count: 4.\n"
        "#   The minimum required count is 8."
    )
    (event,) = parse(text.split("\n"), "notes").events
    assert event.fields["count"] == "4"
    assert event.fields["minimum"] == "8"


def test_line_with_a_header_is_not_a_continuation() -> None:
    text = "E0000 00:00:1.1 2 cuda_dnn.cc:4] Loaded runtime CuDNN library: 9.1.0\nI0000 00:00:1.2 2 x.cc:1] compiled with: 9.3.0"
    assert "cudnn-version-mismatch" not in _kinds(text)


def test_wrapped_line_across_two_batches_is_joined() -> None:
    filler = ["x" * 1000] * 262
    for shift in range(4):
        lines = [*filler[shift:], "Loaded runtime CuDNN library: 9.1.0", "   but source was compiled with: 9.3.0.", *filler]
        (event,) = parse(lines, "test").events
        assert (event.kind, event.line) == ("cudnn-version-mismatch", len(filler) - shift + 1)


@pytest.mark.parametrize("filler", ["\n", "a\n", "\r\n", ""], ids=repr)
@pytest.mark.parametrize("end", ["\n", ""], ids=["with its end", "without"])
def test_line_number_is_correct_among_many_empty_lines(filler: str, end: str) -> None:
    log = parse([filler] * 300_000 + [f"failed call to cuInit: CUDA_ERROR_NO_DEVICE{end}"] + [filler] * 300_000, "log")
    assert ([event.line for event in log.events], log.lines) == ([300_001], 600_001)


def test_progress_bars_overwritten_in_place_keep_their_line_number() -> None:
    log = parse(["start", "1/9 - 1s 10ms/step - loss: 0.9\r2/9 - 1s 10ms/step - loss: nan\r", "end"], "test")
    assert [(event.kind, event.line) for event in log.events] == [("training-progress", 2), ("loss-not-finite", 2)]


def test_first_events_of_a_kind_and_the_last_are_kept() -> None:
    lines = [f"Step {step}: loss = {1 / (step + 1):.3f}" for step in range(5000)]
    steps = [int(event.fields["step"]) for event in parse(lines, "test").events]
    assert len(steps) == KEPT + 1
    assert steps[:KEPT] == list(range(KEPT))
    assert steps[-1] == 4999


def test_repeated_events_do_not_displace_a_different_one() -> None:
    same = ["NVRM: Xid (PCI:0000:65:00): 31, pid=7, MMU Fault"] * 500
    lines = [*same, "NVRM: Xid (PCI:0000:65:00): 79, pid=7, GPU has fallen off the bus.", *same]
    events = [event for event in parse(lines, "test").events if event.kind == "xid"]
    assert [event.fields["code"] for event in events] == ["31", "31", "79", "31"]
    assert events[-1].line == len(lines)


def test_events_that_differ_in_a_number_are_kept() -> None:
    lines = ["Xid=31 on Device=GPU-7"] * 100 + ["Xid=79 on Device=GPU-7"] + ["Xid=31 on Device=GPU-7"] * 100
    assert "79" in [event.fields["code"] for event in parse(lines, "test").events]


def test_event_has_the_line_where_it_begins() -> None:
    (event,) = parse(["about ptxas:", "Couldn't invoke ptxas --version"], "test").events
    assert event.line == 2


def test_line_has_one_event_of_a_kind() -> None:
    text = "RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[9] on /job:a/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc"
    (event,) = parse([text], "test").events
    assert event.fields == {"device": "GPU:0", "allocator": "gpu", "shape": "[9]"}


def _training(size: int) -> Iterator[str]:
    chance = random.Random(1)
    written = 0
    while written < size:
        step, loss = chance.randrange(10**6), chance.random()
        line = f"{chance.choice(['INFO - data -', 'worker', 'batch'])} step {step}: loss = {loss:.4f} ERROR-rate {loss:.3f} id {step:x} {'.' * 200}\n"
        written += len(line)
        yield line


def _peak(size_bytes: int) -> int:
    """The peak memory during the reading of a log of this size, in bytes."""
    tracemalloc.start()
    try:
        log = parse(_training(size_bytes), "stream")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert log.events[-1].line == log.lines
    return peak


def test_memory_is_constant_for_a_long_stream() -> None:
    parse(["warm up"], "test")
    assert _peak(1 << 20) < 1.2 * _peak(1 << 19)  # two batches and adjacent lines are in memory


def test_very_long_line_is_searched() -> None:
    log = parse(["x" * (4 << 20) + " failed call to cuInit: CUDA_ERROR_NO_DEVICE " + "y" * (4 << 20)], "test")
    assert {(event.kind, event.line) for event in log.events} == {("cuinit-failed", 1)}


@pytest.mark.parametrize("before", [1990, 2010, 2030, 2047, 2048])
def test_message_across_two_pieces_of_a_long_line_is_found(before: int) -> None:
    log = parse(["x" * before + " failed call to cuInit: CUDA_ERROR_NO_DEVICE " + "y" * 3000], "test")
    assert "100" in {event.fields.get("code") for event in log.events}  # the truncated piece may have fewer fields


def test_binary_data_does_not_prevent_events() -> None:
    noise = random.Random(2).randbytes(1 << 20)
    text = (noise + b"\nfailed call to cuInit: UNKNOWN ERROR (303)\n" + noise).decode("utf-8", "replace")
    assert "cuinit-failed" in _kinds(text)
    surrogates = (noise[:4096] + b"\nKilled process 7 (python)\n").decode("utf-8", "surrogateescape")
    assert "host-out-of-memory" in _kinds(surrogates)


def test_utf_16_from_powershell_is_read() -> None:
    text = "2026-01-01 10:00:00.1: E cuda_driver.cc:1] failed call to cuInit: UNKNOWN ERROR (100)\r\n".encode("utf-16").decode(
        "utf-8", "replace"
    )
    assert _kinds(text) == ["cuinit-failed"]
