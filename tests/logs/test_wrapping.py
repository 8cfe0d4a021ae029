"""What is taken apart and put together before lines are looked at, and what is left as it is."""

import pytest

from gpucheck.logs.reading import parse
from gpucheck.logs.reading.wrapping import decoded, is_encoded, rejoined


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        (r'{"body": "Epoch 1/20\nKilled\n"}', ['{"', "Epoch 1/20", "Killed", ""]),
        (r"run(returncode=1, stderr=b'one\r\nsaid \'no\'\nKilled')", ["run(returncode=1, ", "one", "said 'no'", "Killed"]),
        (r'{"event": "{\"log\": \"a\\nb\"}"}', ['{"event": "{"', "a", "b"]),
        (r"D:\work\nvidia\nccl\bin and E:\new", [r"D:\work\nvidia\nccl\bin and E:\new"]),
        (r'error: "Failed to initialize NVML\nDriver/library version mismatch";', None),  # source text
        ("<p>one<br/>two &lt;3&gt;</p>", ["<p>one", "two <3></p>"]),
        ("loss:\u00a0nan \u201cx\u201d", ['loss: nan "x"']),
    ],
)
def test_decoded(line, lines):
    assert is_encoded(line)
    assert decoded(line) == ([line] if lines is None else lines)


@pytest.mark.parametrize(
    "line",
    [
        '{"log":"I0000 00:00:1.1 2 a.cc:1] said\\n","stream":"stderr","time":"2026-01-01T00:00:00Z"}',
        '"No devices were found\\n",',
        "2026-11-20 17:28:29.082674: I tsl/file.cc:95] a < b && c > d",
        "12/12 \u2501\u2501\u2501\u2501 1s 9ms/step - loss: 0.5",
    ],
)
def test_what_needs_no_decoding(line):
    assert not is_encoded(line)


MAIL = [
    "> We train on two machines, and the first one of them says for hours",
    "> 2026-11-20 17:29:11: I master.cc:267] CreateSession still waiting for",
    "> response from worker: /job:worker/replica:0/task:1",
    "",
    "What is that?",
]


def test_a_line_that_a_mail_broke_is_whole_again():
    assert [(first, last) for first, last, _ in rejoined(MAIL)] == [(1, 2)]
    assert next(rejoined(MAIL))[2].endswith("still waiting for response from worker: /job:worker/replica:0/task:1")
    (event,) = (event for event in parse(MAIL, "test").events if event.kind == "worker-unreachable")
    assert (event.line, event.fields["address"]) == (2, "/job:worker/replica:0/task:1")


@pytest.mark.parametrize(
    "text",
    [
        ["short", "lines"],
        ["x" * 60 + " y", "- a list's next item is one of its own"],
        ["a b " + "x" * 60, "RuntimeError: of its own"],
        ["a b " + "x" * 60, "[ 10.735323] kernel"],
        ["> quoted " + "x" * 60, "the answer"],
        ["a log has longer lines " + "x" * 90, "than a mail"],
    ],
)
def test_what_stays_apart(text):
    assert list(rejoined(text)) == []
