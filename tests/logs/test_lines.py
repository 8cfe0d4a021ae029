import pytest

from gpucheck.logs.reading import lines


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-20 17:28:29.082674: I tensorflow/core/platform/file.cc:95] message",
        "2019-03-19 01:42:14.933680: W external/local_xla/xla/cuda_dnn.cc:9261] message",
        r"I c:\tf_jenkins\home\tensorflow\core\gpu_device.cc:906] message",
        "E0000 00:00:1795191869.698545    9755 cuda_platform.cc:52] message",
        "F20230801 21:50:32.905575  4768 threadpool.cc:51] message",
        "I0921 16:20:46.539674 11560 learning.py:768] message",
        "E0000 cuda_dnn.cc:454] message",
        "00:00:1788533553.748693 1756 cudart_stub.cc:31] message",
        "INFO:tensorflow:message",
        "WARNING:jax._src.xla_bridge:message",
        "2022-11-09 16:53:58,305 - INFO - message",
        "[2025-04-16 10:55:37,809] [INFO] message",
        "2026-01-01T10:00:00.123456789Z message",  # kubectl logs --timestamps
        "2026-01-01T10:00:00.123456789Z stderr F message",  # CRI
        "[pod/train-0/main] 2026-01-01T10:00:00Z message",
        "train-1  | 2026-01-01 10:00:00.1: I a/b.cc:1] message",  # docker compose
        "[rank3]: 2026-01-01 10:00:00.1: I a/b.cc:1] message",
        "[1,2]<stderr>: 2026-01-01 10:00:00.1: I a/b.cc:1] message",  # mpirun
        "3: 2026-01-01 10:00:00.1: I a/b.cc:1] message",  # srun --label
        "(RayTrainWorker pid=412, ip=10.0.0.2) 2026-01-01 10:00:00.1: I a/b.cc:1] message",
        "Aug  5 03:12:01 node7 kernel: [  123.456789] message",
        "Aug  5 03:12:01 node7 systemd[1]: message",
        "[Wed Aug  5 03:12:01 2026] message",
        "[   10.735323] message",
        "<4>[   10.735323] message",
        "node-1:257714:257715 [0] message",
        "\x1b[0;31m2026-01-01 10:00:00.1: I a/b.cc:1]\x1b[0m \x1b[1mmessage\x1b[0m",
        "    # 2026-01-01 10:00:00.1: I a/b.cc:1] message",  # a comment in somebody's notes
    ],
)
def test_prefixes_go_and_say_that_a_record_begins(line: str) -> None:
    assert lines.clean(line) == lines.Message("message", True)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("  pci bus id: 0000:08:00.0, compute capability: 3.0) with count: 4.", None),
        ("| Warning   | GPU 0 Thermal  |", "Warning   | GPU 0 Thermal"),
        ("|           | s started at 9.7  |", "s started at 9.7"),
        ("> quoted", "quoted"),
        ("[rank0]: RuntimeError: no", "RuntimeError: no"),
        ("ERROR: Could not find a version", None),
        ("RuntimeError: Unable to initialize", None),
        ("", None),
    ],
)
def test_a_line_without_a_head_may_be_a_continuation(line: str, text: str | None) -> None:
    assert lines.clean(line) == lines.Message(line.strip() if text is None else text, False)


def test_a_json_record_of_docker_gives_its_line() -> None:
    record = '{"log":"I0000 00:00:1.1 2 a.cc:1] said \\"no\\"\\n","stream":"stderr","time":"2026-01-01T00:00:00Z"}'
    assert lines.clean(record) == lines.Message('said "no"', True)


def test_json_of_others_stays_as_it_is() -> None:
    assert lines.clean('{"loss": 0.5}').text == '{"loss": 0.5}'


def test_utf_16_read_as_utf_8_is_readable_again() -> None:
    text = "failed call to cuInit\n".encode("utf-16").decode("utf-8", "replace")
    assert "failed call to cuInit" in lines.clean(text).text


def test_undecodable_bytes_and_control_characters_do_no_harm() -> None:
    assert lines.clean("\udcff\x07\x1b]0;title\x07ptxas \ufffd\x1b[2K!").text == "\udcffptxas \ufffd!"


def test_a_progress_bar_that_overwrites_itself_is_taken_apart() -> None:
    assert lines.split("1/3\r2/3\r3/3", 100) == ["1/3", "2/3", "3/3"]
    assert lines.split("1/3\b\b\b2/3", 100) == ["1/3", "2/3"]


def test_long_lines_are_cut_into_overlapping_pieces() -> None:
    line = "".join(f"{number:04d} " for number in range(100))
    pieces = lines.split(line, 83)
    assert max(map(len, pieces)) == 83
    assert all(any(f"{number:04d}" in piece for piece in pieces) for number in range(100))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('      "No devices were found\\n",', "No devices were found"),
        (
            '"\\u001b[0;31mImportError\\u001b[0m: libcuda.so.1: cannot open \\"it\\"\\r\\n"',
            'ImportError: libcuda.so.1: cannot open "it"',
        ),
        ('"a" and "b" are quoted', '"a" and "b" are quoted'),
        ("Could not find 'cudart64\\_110.dll'", "Could not find 'cudart64_110.dll'"),
    ],
)
def test_what_a_notebooks_file_and_markdown_add_is_taken_away(line: str, text: str) -> None:
    assert lines.clean(line).text == text
