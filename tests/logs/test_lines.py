import pytest

from gpucheck.core.logs.reading import batches, lines


def test_line_is_read_from_a_json_record_of_docker() -> None:
    record = '{"log":"I0000 00:00:1.1 2 a.cc:1] said \\"no\\"\\n","stream":"stderr","time":"2026-01-01T00:00:00Z"}'
    assert lines.clean(record) == lines.Message('said "no"', True)


def test_utf_16_read_as_utf_8_is_repaired() -> None:
    text = "failed call to cuInit\n".encode("utf-16").decode("utf-8", "replace")
    assert "failed call to cuInit" in lines.clean(text).text


def test_control_characters_are_removed() -> None:
    assert lines.clean("\udcff\x07\x1b]0;title\x07ptxas \ufffd\x1b[2K!").text == "\udcffptxas \ufffd!"


def test_long_lines_are_split_into_overlapping_pieces() -> None:
    line = "".join(f"{number:04d} " for number in range(100))
    pieces = batches.split(line, 83)
    assert max(map(len, pieces)) == 83
    assert all(any(f"{number:04d}" in piece for piece in pieces) for number in range(100))


@pytest.mark.parametrize(
    ("bar", "message"),
    [
        ("165/296 [====>..] - ETA: 365s - loss: 2.1371", "Killed"),
        ("101/448 [=>...] - ETA: 22:45 - loss: 0.0579", "2020-12-28 23:00:10.783703: E cuda_event.cc:29] Error"),
        ("9/9 ━━━━ 1s 31ms/step - top-5: 0.1234 - learning_rate: 1.0000e-04", "Epoch 2/5"),
        ("9/9 ━━━━ 1s 31ms/step - loss: nan", "Traceback (most recent call last):"),
        (" 22%|██▏  | 11/50 [1:55:26<6:49:05, 629.37s/it]", "slurmstepd: error: *** JOB 1 CANCELLED"),
        (" 45%|████▌| 7/16 [2:12:45<2:59:53, 12.28s/it, loss=[0.1, 0.2]]", "[2026-03-25T10:34:07.530] error: *** STEP"),
    ],
)
def test_message_after_a_progress_bar_is_separated(bar: str, message: str) -> None:
    assert lines.after_bar(bar) == bar
    assert lines.after_bar(bar + message) == message


@pytest.mark.parametrize(
    "line",
    [
        "1/9 [>...] - ETA: 3s",
        "1/9 [>...] - ETA: 1:09:23 - loss: nan - acc: 0.1",
        "1/9 [>...] - ETA: 9s - loss: 0.12345 - accuracy: 0.5000",
        "9/9 ━━━━ 9s 31ms/step - learning_rate: 1.0000e-04 - loss: 0.3000",
        "Epoch 3 ETA: 0:12:13 loss: 0.5",
    ],
)
def test_lines_of_only_a_progress_bar_are_unchanged(line: str) -> None:
    assert lines.after_bar(line) == line
