from gpucheck.core.logs.reading import batches, lines


def test_a_json_record_of_docker_gives_its_line() -> None:
    record = '{"log":"I0000 00:00:1.1 2 a.cc:1] said \\"no\\"\\n","stream":"stderr","time":"2026-01-01T00:00:00Z"}'
    assert lines.clean(record) == lines.Message('said "no"', True)


def test_utf_16_read_as_utf_8_is_readable_again() -> None:
    text = "failed call to cuInit\n".encode("utf-16").decode("utf-8", "replace")
    assert "failed call to cuInit" in lines.clean(text).text


def test_undecodable_bytes_and_control_characters_do_no_harm() -> None:
    assert lines.clean("\udcff\x07\x1b]0;title\x07ptxas \ufffd\x1b[2K!").text == "\udcffptxas \ufffd!"


def test_long_lines_are_cut_into_overlapping_pieces() -> None:
    line = "".join(f"{number:04d} " for number in range(100))
    pieces = batches.split(line, 83)
    assert max(map(len, pieces)) == 83
    assert all(any(f"{number:04d}" in piece for piece in pieces) for number in range(100))
