import struct

import pytest
from fakes import FakeHost
from tiny_elf import aarch64, library, needs_cc, patched, truncated

from gpucheck.core.probes import _elf

pytestmark = needs_cc


def problem(data, machine="x86_64"):
    return _elf.problem(FakeHost({"/l.so": data}), "/l.so", machine)


def test_complete_library_has_no_problem():
    assert problem(library()) is None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (lambda good: b"", "empty"),
        (lambda good: b"version https://git-lfs.github.com/spec/v1\n" * 5, "not a library"),
        (lambda good: b"INPUT ( libfoo.so )", "not a library"),
        (lambda good: good[:30], "truncated"),
        (lambda good: good[:64], "truncated"),
        (lambda good: good[:200], "truncated"),
        (truncated, "truncated"),
        (lambda good: good[:-1], "truncated"),
        (aarch64, "built for aarch64"),
        (lambda good: patched(good, 18, b"\x09\x00"), "built for machine 9"),
        (lambda good: patched(good, 16, b"\x02\x00"), "not a library"),
    ],
)
def test_problems_of_damaged_files(data, expected):
    assert problem(data(library())) == expected


def test_32_bit_library_is_built_for_another_machine():
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 3, 3, 1, 0, 0, 0, 0, 52, 32, 0, 40, 0, 0)
    assert problem(header) == "built for i386"


def test_unknown_machine_is_not_judged():
    assert problem(aarch64(library()), machine="loongarch64") is None


def test_missing_file_is_unreadable():
    assert _elf.problem(FakeHost(), "/l.so", "x86_64") == "unreadable"


def test_program_headers_far_into_the_file_are_read():
    good = library()
    (start,) = struct.unpack_from("<Q", good, 32)
    size, count = struct.unpack_from("<HH", good, 54)
    moved = patched(good, 32, struct.pack("<Q", len(good))) + good[start : start + size * count]
    assert len(good) > 4096
    assert problem(moved) is None
    assert problem(moved[:-1]) == "truncated"


@pytest.mark.parametrize("rpath", [False, True])
def test_search_path_is_read_as_rpath_or_runpath(rpath):
    written = "$ORIGIN/../nvidia/cublas/lib:/opt/lib"
    found = _elf.search_path(FakeHost({"/l.so": library("a.so", written, rpath=rpath)}), "/l.so")
    entries = ("$ORIGIN/../nvidia/cublas/lib", "/opt/lib")
    assert found == ((entries, ()) if rpath else ((), entries))


def test_long_search_path_is_read_completely():
    written = ":".join(f"/folder/{number:05}" for number in range(6000))
    assert len(written) > 1 << 16
    _, runpath = _elf.search_path(FakeHost({"/l.so": library("a.so", written)}), "/l.so")
    assert len(runpath) == 6000
    assert runpath[-1] == "/folder/05999"


def test_library_without_a_search_path():
    assert _elf.search_path(FakeHost({"/l.so": library()}), "/l.so") == ((), ())


@pytest.mark.parametrize("data", [b"", b"text", b"\x7fELF" + bytes(20)])
def test_search_path_of_other_files_is_unknown(data):
    assert _elf.search_path(FakeHost({"/l.so": data}), "/l.so") is None


@pytest.mark.parametrize(
    ("copy", "expected"),
    [
        ({"versions": "CXX_1 CXX_2 CXX_3"}, None),
        ({"versions": "CXX_1"}, "CXX_2"),
        ({"versions": "OTHER_1"}, "CXX_1"),
        ({}, "CXX_1"),
        ({"function": "_ZdlPv"}, None),  # without versions, as in builds that omit them
    ],
)
def test_first_missing_version_of_a_copy(copy, expected):
    host = FakeHost({"/l.so": library("l.so", needs="libcxx.so.6 CXX_1 CXX_2"), "/x.so": library("libcxx.so.6", **copy)})
    assert _elf.missing_version(host, "/l.so", "libcxx.so.6", "/x.so") == expected
    assert _elf.missing_version(host, "/l.so", "libc.so.6", "/l.so") is not None
    assert _elf.missing_version(host, "/l.so", "libother.so.6", "/x.so") is None


def test_other_file_has_no_missing_version():
    host = FakeHost({"/l.so": library("l.so", needs="libcxx.so.6 CXX_1"), "/x.so": "text"})
    assert _elf.missing_version(host, "/l.so", "libcxx.so.6", "/x.so") is None
