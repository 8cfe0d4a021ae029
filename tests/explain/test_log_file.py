"""Input of `gpucheck explain`: text in all common encodings, compressed or not; other files are refused."""

import base64
import bz2
import gzip
import io
import json
import lzma
import marshal
import os
import pathlib
import struct
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner
from command import gpucheck

from gpucheck.cli.group import cli
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.explain import log_file
from gpucheck.commands.explain.log_file import Limited
from gpucheck.core.system.read import Refused

LOG = (
    "Epoch 1/2\n2024-10-20 22:50:17.657501: W x.cc:1] OOM when allocating tensor with shape[64,512]\n"
    "ResourceExhaustedError: OOM when allocating tensor with shape[64,512] by allocator GPU_0_bfc\n"
)
PACKED = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}

# A line of text compressed with a dictionary of 1.5 GiB, so decompression needs as much memory.
LARGE_DICTIONARY = "/Td6WFoAAATm1rRGAgAhASUAAAA7eHtBAQApRSBDVURBX0VSUk9SX09VVF9PRl9NRU1PUlk6IG91dCBvZiBtZW1vcnkKAAAAh3/aRKhKswsAAUIqelFyOR+2830BAAAAAARZWg=="


class Dribbling(io.RawIOBase):
    """A pipe whose writer is slow: a few bytes at a time."""

    def __init__(self, data):
        self._rest = data

    def readable(self):
        return True

    def readinto(self, buffer):
        part, self._rest = self._rest[:3], self._rest[3:]
        buffer[: len(part)] = part
        return len(part)


def lines(data, **options):
    return list(log_file.lines(io.BytesIO(data), "train.log", **options))


def explain(*args, given=b""):
    done = gpucheck("explain", *args, input=given)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("form", ["plain", *PACKED])
def test_compressed_log(form, tmp_path):
    data = PACKED.get(form, bytes)(LOG.encode())
    assert lines(data) == LOG.splitlines(keepends=True)
    assert list(log_file.lines(io.BufferedReader(Dribbling(data)), "-")) == LOG.splitlines(keepends=True)
    (tmp_path / "train.log").write_bytes(data)
    for answer in (explain(str(tmp_path / "train.log")), explain("-", given=data)):
        assert answer[0] == 0
        assert "gpu-memory-exhausted" in answer[1]


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals on this system")
def test_paste_on_a_terminal_explains_how_to_end_it():
    user, terminal = os.openpty()
    os.write(user, b"CUDA_ERROR_NO_DEVICE\n\x04")
    command = [sys.executable, "-m", "gpucheck", "explain", "-"]
    done = subprocess.run(command, stdin=terminal, capture_output=True, text=True, check=True, timeout=60)
    os.close(user)
    os.close(terminal)
    assert done.stderr == "gpucheck: paste the text, then press Enter and Ctrl-D\n"
    assert "devices-hidden" in done.stdout


def test_compressed_log_with_padding():
    assert lines(lzma.compress(b"x\n") + b"\0" * 512) == ["x\n"]


@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are Linux'")
def test_too_little_memory_is_not_reported_as_damage(tmp_path):
    (tmp_path / "train.log.xz").write_bytes(base64.b64decode(LARGE_DICTIONARY))
    command = f"ulimit -v 1500000; exec {sys.executable} -m gpucheck explain train.log.xz"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "this process has too little memory to unpack it" in done.stderr


def test_decompressed_size_is_limited():
    assert lines(gzip.compress(b"x" * 100), limit=100) == ["x" * 100]
    with pytest.raises(Refused, match=r"^cannot read train\.log: larger than 1 MiB when unpacked; .*zcat train\.log \| tail"):
        lines(gzip.compress(b"x\n" * (1 << 20)), limit=1 << 20)


@pytest.mark.parametrize("form", PACKED)
def test_damaged_or_truncated_compressed_log_is_refused(form):
    whole = PACKED[form](os.urandom(5000).hex().encode())
    for data in (whole[: len(whole) // 2], whole[:40] + b"\xff\x00\xff\x00" * 30 + whole[160:]):
        with pytest.raises(Refused, match=r"^cannot read train\.log: its \w+ data is damaged or truncated"):
            lines(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x28\xb5\x2f\xfd" + b"\0" * 40, "zstdcat"),
        (pathlib.Path(sys.executable).read_bytes()[:20000], "not a text file"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\x005\xd1\xdc\xe4", "not a text file"),
        (struct.pack("<500d", *(0.1 * n for n in range(500))), "not a text file"),
        (marshal.dumps(compile("def f(x): return [x + 1, 2.5]", "a", "exec")), "not a text file"),
    ],
    ids=["zstd", "program", "image", "numbers", "bytecode"],
)
def test_binary_input_is_refused(data, words, tmp_path):
    with pytest.raises(Refused, match=words):
        lines(data)
    (tmp_path / "a b").write_bytes(data)
    code, out, problem = explain(str(tmp_path / "a b"))
    assert (code, out) == (2, "")
    assert words in problem
    assert "Traceback" not in problem


@pytest.mark.parametrize(
    "data",
    [
        LOG.encode("utf-16"),
        LOG.encode("utf-16-le"),
        LOG.encode("utf-16-be"),
        LOG.encode("utf-32"),
        b"\xef\xbb\xbf" + LOG.encode(),
        b"first\n" + LOG.encode("utf-16-le"),  # PowerShell appends UTF-16 to a file of another encoding
        b"\0" * 20000 + LOG.encode(),  # a file that was truncated while its writer kept its offset
        "\x1b]0;title\x07\x1b[1;31m学習\x1b[0m 50%\b\b\b60%\r\x1b(B\x0f".encode() + LOG.encode(),
        b"h\xe9t\xe9rog\xe8ne\n" + LOG.encode(),  # Latin-1
        b"\x00\x01 two odd bytes in a long line of text are not enough to call it something else\n" + LOG.encode(),
    ],
    ids=["UTF-16", "LE", "BE", "UTF-32", "mark", "mixed", "sparse", "terminal", "Latin-1", "two"],
)
def test_text_in_unusual_encodings(data):
    code, out, problem = explain("-", given=data)
    assert (code, problem) == (0, "")
    assert "gpu-memory-exhausted" in out


def test_hint_for_standard_input_has_a_placeholder_file():
    code, out, problem = explain("-", given=gzip.compress(LOG.encode())[:40])
    assert (code, out) == (2, "")
    assert "cannot read standard input: its gzip data is damaged" in problem
    assert "zcat FILE | gpucheck explain -" in problem


def test_secrets_of_a_log_are_hidden_if_asked():
    token, key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"  # no one's
    lines = [
        f"ImportError: https://bob:{token}@github.com libcuda.so.1: cannot open shared object file: No such file or directory",
        f"RuntimeError: AWS_SECRET_ACCESS_KEY={key} was refused",
        "RuntimeError: loss went wrong in /home/bob/train.py",
    ]
    for style in ("terminal", "json"):
        asked, plain = (gpucheck("explain", "-", "--format", style, *more, input="\n".join(lines)) for more in (["--redact"], []))
        assert token in plain.stdout.replace("\n          ", "")
        assert [secret for secret in (token, key, "bob") if secret in asked.stdout.replace("\n          ", "")] == []
        assert "driver-missing" in asked.stdout
        assert "libcuda.so.1" in asked.stdout


def test_empty_log():
    assert lines(b"") == []


def test_endless_stream_ends_at_a_limit():
    numbers = iter(range(1000))
    stream = Limited(lambda size: b"line %d\n" % next(numbers), most_bytes=20)
    assert list(log_file.lines(stream, "-")) == ["line 0\n", "line 1\n", "line 2\n"]
    assert stream.cut == "it is larger than 20 bytes"
    late = Limited(lambda size: b"line\n", until=0.0)
    assert list(log_file.lines(late, "-")) == []
    assert late.cut == "the time limit was reached (--timeout)"


def test_holes_in_a_log_and_devices():
    """A log that was truncated while its program keeps writing begins with a hole of the old length."""
    pieces = [b"\0" * 4096, b"\0" * 4096, LOG.encode(), b""]
    assert list(log_file.lines(Limited(lambda size: pieces.pop(0)), "train.log")) == LOG.splitlines(keepends=True)
    if os.path.exists("/dev/zero"):
        assert explain("/dev/zero") == (2, "", explain("/dev/zero")[2])
        assert "it is not a text file" in explain("/dev/zero")[2]


def test_timeout_is_not_reported_as_damage():
    packed = [gzip.compress(os.urandom(500_000).hex().encode())[:400_000]]
    stream = Limited(lambda size: packed.pop() if packed else stop(), until=time.monotonic() + 100)

    def stop():
        stream.cut = "the time limit was reached (--timeout)"
        return b""

    assert "".join(log_file.lines(stream, "train.log.gz")) != ""


def test_standard_input_is_read_to_its_end_without_a_timeout(tmp_path):
    """The writer may be a training run of several hours, which would end if gpucheck stopped reading."""
    (tmp_path / "train.log").write_text(LOG)

    def cut(*args):
        expired = TimeLimit(time.monotonic() - 10_000)
        done = CliRunner().invoke(cli, ["explain", *args, "--format", "json"], input=LOG, obj=expired)
        return json.loads(done.stdout)["facts"]["log"]["cut"]

    assert cut("-") is None
    assert [cut("-", "--timeout", "60"), cut(str(tmp_path / "train.log"))] == ["the time limit was reached (--timeout)"] * 2
