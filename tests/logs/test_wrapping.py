"""What is taken apart and put together before lines are looked at, and what is left as it is."""

import pytest

from gpucheck.logs.reading.wrapping import decoded, is_encoded


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
