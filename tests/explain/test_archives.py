"""`gpucheck explain` of a tar or zip archive: it reads every log within limits, and extracts nothing."""

import gzip
import io
import os
import tarfile
import zipfile

import pytest
from command import gpucheck

from gpucheck.commands.explain.archives import MOST_FILES, Archive, archive_in, shown
from gpucheck.core.system.read import Refused

OOM = b"ResourceExhaustedError: OOM when allocating tensor with shape[64,512] on GPU:0 by allocator GPU_0_bfc\n"
LOST = b"[ 12.345678] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.\n"
FILES = {"run/train.log": OOM, "run/dmesg.log.gz": gzip.compress(LOST), "run/core": b"\x7fELF\0\1\2\3" * 90, "run/empty.log": b""}


def tar(files, mode="w"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, data in files.items():
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
    return out.getvalue()


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


FORMS = {"tar": tar, "tar.gz": lambda files: tar(files, "w:gz"), "tar.xz": lambda files: tar(files, "w:xz"), "zip": zipped}


def read(data, **limits):
    """Return every text with its lines, and why the rest was not read."""
    archive = archive_in(io.BytesIO(data), "", "logs.tar", **limits)
    assert isinstance(archive, Archive)
    return [(name, list(lines)) for name, lines in archive.texts()], archive.cut


@pytest.mark.parametrize("form", FORMS)
def test_cause_and_file_are_named(form, tmp_path):
    path = tmp_path / f"logs.{form}"
    path.write_bytes(FORMS[form](FILES))
    done = gpucheck("explain", str(path))
    assert (done.returncode, done.stderr) == (0, "")
    words = " ".join(done.stdout.split())
    assert words.startswith("✗ run/dmesg.log.gz: The GPU at 0000:3b:00 no longer responds")
    assert "run/train.log: GPU memory ran out" in words
    assert "(4 files, 2 of them empty or not text): 2 lines" in words
    assert sorted(os.listdir(tmp_path)) == [path.name]


def test_tar_archive_from_a_pipe_but_no_zip_archive():
    assert "dmesg.log.gz" in gpucheck("explain", "-", input=FORMS["tar.gz"](FILES)).stdout
    refused = gpucheck("explain", "-", input=zipped(FILES))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "it is a zip archive; try: unzip -p FILE | gpucheck explain -" in refused.stderr


def test_links_and_devices_are_not_followed():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            header = tarfile.TarInfo("a")
            header.type, header.linkname = kind, "/etc/passwd"
            archive.addfile(header)
    assert read(out.getvalue()) == ([], None)


def test_number_of_files_is_limited():
    texts, cut = read(tar({f"{number}.log": b"x\n" for number in range(MOST_FILES + 2)}))
    assert (len(texts), cut) == (MOST_FILES, f"it has more than {MOST_FILES} files")


@pytest.mark.parametrize("form", FORMS)
def test_total_size_is_limited(form, tmp_path):
    path = tmp_path / "logs"
    path.write_bytes(FORMS[form]({"a.log": b"x\n" * 50, "b.log": b"y\n" * (1 << 20), "c.log": b"z\n"}))
    with path.open("rb") as stream:
        archive = archive_in(stream, str(path), "logs", most_bytes=1000)
        texts = [(name, sum(map(len, lines))) for name, lines in archive.texts()]
    assert texts[0] == ("a.log", 100)
    assert texts[1][1] <= 900
    assert archive.cut == "its files are too large when unpacked"


def test_size_of_a_compressed_member_is_limited():
    texts, _ = read(tar({"bomb.log.gz": gzip.compress(b"x\n" * (1 << 20))}), most_bytes=1000)
    assert sum(len(line) for _, lines in texts for line in lines) <= 1000


def test_header_that_would_fill_memory_is_refused():
    header = tarfile.TarInfo("a")
    header.type, header.size = tarfile.XHDTYPE, 1 << 40
    with pytest.raises(Refused, match="its archive is damaged"):
        read(header.tobuf(tarfile.GNU_FORMAT) + b"\0" * 4096)


def test_intact_part_of_a_damaged_archive_is_read():
    whole = tar(FILES)
    texts, cut = read(whole[:1560])
    assert texts == [("run/train.log", [OOM.decode()]), ("run/dmesg.log.gz", [])]
    assert cut == "its archive is damaged or truncated after 2 files"
    with pytest.raises(Refused, match="its archive is damaged"):
        read(whole[:300])


def test_archive_is_not_read_after_the_timeout():
    archive = Archive(io.BufferedReader(io.BytesIO(tar(FILES))), "logs", lambda: True)
    assert list(archive.texts()) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("./run/a.log", "run/a.log"),
        ("../../etc/passwd", "etc/passwd"),
        ("/var/log/a", "var/log/a"),
        ("C:\\logs\\a.log", "C:/logs/a.log"),
        ("a\x1b[31m\nb", "a?[31m?b"),
        ("x" * 200, "..." + "x" * 160),
    ],
)
def test_member_names_are_cleaned(name, words):
    assert shown(name) == words
