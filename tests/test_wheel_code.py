"""The readers of tools/read_wheels.py, on files created by the tests."""

import shutil
import struct
import subprocess

import pytest
from wheel_code import Code, Elf, cuda_names, elf, fat_binaries

CC = shutil.which("cc")
PTX, ELF = 1, 2


def entry(kind, capability, version=(0, 0), content=b"\x5a" * 40):
    major, minor = version
    return struct.pack("<HHIQIIHHI", kind, 0, 64, len(content), 0, 0, minor, major, capability).ljust(64, b"\0") + content


def fat_binary(*entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


MIXED = fat_binary(entry(ELF, 80), entry(ELF, 90), entry(PTX, 90, (8, 5)))


def test_machine_code_and_ptx_of_each_fat_binary_are_counted():
    data = b"text" + MIXED + b"\0" * 7 + MIXED + fat_binary(entry(ELF, 90, content=b""))
    assert fat_binaries(data) == {Code((80, 90), ((90, "8.5"),)): 2, Code((90,), ()): 1}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        MIXED[:12],
        MIXED[:-1],
        MIXED[:4] + b"\x09" + MIXED[5:],
        struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 1 << 40),
        fat_binary(entry(7, 80)),
    ],
)
def test_truncated_or_foreign_bytes_are_not_a_fat_binary(data):
    assert not fat_binaries(data)


def test_fat_binary_after_a_truncated_header_is_found():
    assert fat_binaries(MIXED[:4] + MIXED) == {Code((80, 90), ((90, "8.5"),)): 1}


def test_library_names_are_complete_strings():
    assert cuda_names(b"\0libcudnn.so.9\0libcublas.so\0libcudart.so.12 or\0libnccl.so.2\0") == ("libcudnn.so.9", "libnccl.so.2")


@pytest.mark.skipif(CC is None, reason="no C compiler (cc) on PATH")
def test_needs_and_fat_binary_of_a_compiled_library(tmp_path):
    assert CC is not None
    bytes_ = ", ".join(map(str, MIXED))
    sections = (".nv_fatbin", "__nv_relfatbin")  # the second is relocatable code, which is never loaded
    source = "".join(f'__asm__(".section {name},\\"a\\"\\n.byte {bytes_}\\n.previous");\n' for name in sections)
    source += "#include <math.h>\n"
    (tmp_path / "a.c").write_text(source + "double f(double x) { return pow(x, x); }\n")
    argv = [CC, "-shared", "-fPIC", "-o", str(tmp_path / "a.so"), str(tmp_path / "a.c"), "-Wl,--no-as-needed", "-lm"]
    subprocess.run(argv, check=True, capture_output=True, timeout=60)
    data = (tmp_path / "a.so").read_bytes()
    found = elf(data)
    assert {"libm.so.6", "libc.so.6"} <= set(found.needed)
    assert any(version.startswith("GLIBC_2.") for version in found.versions)
    assert fat_binaries(data) == {Code((80, 90), ((90, "8.5"),)): 1}


@pytest.mark.parametrize("data", [b"", b"\x7fELF\x01\x01", b"MZ"])
def test_other_files_have_no_needs(data):
    assert elf(data) == Elf((), ())
