"""Files named by the user: regular, limited in size, converted to UTF-8."""

import io
import os

import pytest

from gpucheck.core.system.read import Refused, read, utf8


def test_file_and_link_are_read_completely(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 10)
    assert read(str(tmp_path / "a"), limit=10) == b"x" * 10
    (tmp_path / "link").symlink_to("a")
    assert read(str(tmp_path / "link"), limit=10) == b"x" * 10


def test_file_above_the_size_limit_is_refused_instead_of_truncated(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * (2 << 20))
    with pytest.raises(Refused, match=r"^cannot read .*/a: larger than 1 MiB, too large for a file of this kind$"):
        read(str(tmp_path / "a"), limit=1 << 20)


def test_pipe_is_refused_without_waiting_for_its_writer(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(Refused, match=r"^cannot read .*/fifo: a pipe, not a regular file$"):
        read(str(tmp_path / "fifo"), limit=10)
    with pytest.raises(Refused, match=r"not a regular file \(standard input is read as -\)$"):
        read(str(tmp_path / "fifo"), limit=10, dash=True)


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="no /dev/fd")
def test_open_pipe_in_dev_fd_is_read_up_to_the_limit():
    for data, limit in ((b"abc", 10), (b"x" * 11, 10)):
        reading, writing = os.pipe()
        os.write(writing, data)
        os.close(writing)
        try:
            if len(data) <= limit:
                assert read(f"/dev/fd/{reading}", limit) == data
            else:
                with pytest.raises(Refused, match="larger than 10 bytes"):
                    read(f"/dev/fd/{reading}", limit)
        finally:
            os.close(reading)
    with pytest.raises(Refused, match="cannot read"):
        read(f"/dev/fd/{reading}", 10)


@pytest.mark.parametrize(
    ("path", "words"), [("/dev/zero", "a device, not"), ("/", "a folder, not"), ("/no/such", "No such file")]
)
def test_non_files_are_refused(path, words):
    with pytest.raises(Refused, match=f"^cannot read {path}: {words}"):
        read(path, limit=10)


@pytest.mark.parametrize("path", ["a\0b", ""])
def test_invalid_file_name_is_refused(path):
    with pytest.raises(Refused, match=r"^cannot read"):
        read(path, limit=10)


def test_socket_is_refused(tmp_path):
    import socket

    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
        with pytest.raises(Refused, match="a socket, not a regular file"):
            read(str(tmp_path / "socket"), limit=10)


class Stdin:
    def __init__(self, data):
        self.buffer = io.BytesIO(data)


def test_standard_input_is_read_up_to_the_limit(monkeypatch):
    monkeypatch.setattr("sys.stdin", Stdin(b"x" * 10))
    assert read("-", limit=10, dash=True) == b"x" * 10
    monkeypatch.setattr("sys.stdin", Stdin(b"x" * 11))
    with pytest.raises(Refused, match="cannot read standard input: larger than 10 bytes"):
        read("-", limit=10, dash=True)
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(Refused, match="standard input is closed, so nothing can be read from it"):
        read("-", limit=10, dash=True)


def test_dash_is_a_file_name_unless_standard_input_is_allowed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").write_bytes(b"file")
    assert read("-", limit=10) == b"file"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_unicode_encodings_are_converted_to_utf_8(encoding):
    assert utf8('{"ü": 1}'.encode(encoding)) == '{"ü": 1}'.encode()


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"\xff\xfe\x00", b"\xff\xfe\x00\xd8", b"\x00\x00", b"a\x00b"])
def test_undecodable_data_is_unchanged(data):
    assert utf8(data) == data


def test_toml_in_utf_16_is_read(tmp_path):
    text = "# what\nschema_version = 1\n".encode("utf-16")
    (tmp_path / "e.toml").write_bytes(text)
    assert read(str(tmp_path / "e.toml"), limit=100) == b"# what\nschema_version = 1\n"
