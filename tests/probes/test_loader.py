"""The model of the loader, compared with the real one; cases with imaginary files are in tests/cases/probes/loader.txt."""

import os
import pathlib
import shutil
import struct
import subprocess
import sys

import pytest
from fakes import FakeHost
from tiny_elf import aarch64, cache, library, needs_cc, truncated

from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.probes._loader import Copy, Loader

pytestmark = [needs_cc, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's loader")]

SONAME = "libtiny.so.1"
CALLER = "/site/tensorflow/caller.so"


def find(files):
    return Loader(FakeHost({CALLER: library("caller.so"), **files}), CALLER).find(SONAME)


@pytest.mark.parametrize(
    "data",
    [
        cache((SONAME, "/opt/libtiny.so.1"), flags=0x0003),  # 32 bits
        cache((SONAME, "/opt/libtiny.so.1"))[:60],
        b"glibc-ld.so.cache1.1",
        b"something else",
    ],
)
def test_cache_without_a_usable_entry_is_ignored(data):
    assert find({"/etc/ld.so.cache": data, "/opt/libtiny.so.1": library()}) is None


def test_older_cache_format_contains_the_new_table():
    old = b"ld.so-1.7.0\0" + struct.pack("<I", 1) + bytes(12) + bytes(4)
    cached = cache((SONAME, "/opt/libtiny.so.1"), before=old)
    assert find({"/etc/ld.so.cache": cached, "/opt/libtiny.so.1": library()}) == Copy("/opt/libtiny.so.1", "ld.so.cache")


def test_unreadable_caller_has_the_assumed_search_path():
    host = FakeHost({"/site/nvidia/cublas/lib/libtiny.so.1": library()})
    loader = Loader(host, CALLER, ("$ORIGIN/../nvidia/cublas/lib",))
    assert not loader.readable
    assert loader.find(SONAME) == Copy("/site/nvidia/cublas/lib/libtiny.so.1", "RUNPATH")


def test_copies_list_each_file_once():
    files = {CALLER: library(), "/a/libtiny.so.1.2": library(), "/b/libtiny.so.1": library()}
    host = FakeHost(files, links={"/a/libtiny.so.1": "libtiny.so.1.2", "/c": "/a"}, env={"LD_LIBRARY_PATH": "/a"})
    assert Loader(host, CALLER).copies(SONAME, ("/b", "/c", "/nowhere")) == ["/a/libtiny.so.1", "/b/libtiny.so.1"]


def test_cache_of_this_machine_matches_ldconfig():
    ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin")
    if ldconfig is None or not pathlib.Path("/etc/ld.so.cache").exists() or os.uname().machine != "x86_64":
        pytest.skip("ldconfig is not available")
    printed = {}
    for line in subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=True).stdout.splitlines():
        soname, arrow, path = line.partition(" => ")
        if arrow and "(libc6,x86-64" in soname and soname.strip().startswith("lib"):
            printed.setdefault(soname.split()[0], []).append(path)
    with LocalHost(Request()) as host:
        assert Loader(host, None).cached() == printed


REALLY = """
import ctypes, sys
caller = ctypes.CDLL(sys.argv[1])
caller.open_library.restype = ctypes.c_void_p
caller.open_library(sys.argv[2].encode())
mapped = {line.split()[-1] for line in open("/proc/self/maps") if sys.argv[2] in line}
print(*mapped)
"""


@pytest.mark.parametrize("rpath", [False, True])
@pytest.mark.parametrize(
    ("first", "dies"),
    [
        (lambda good: good, False),
        (lambda good: None, False),
        (aarch64, False),
        (lambda good: b"", True),
        (lambda good: b"text" * 100, True),
        (lambda good: good[:64], True),
        (truncated, True),
    ],
)
def test_model_matches_the_real_loader(tmp_path, first, dies, rpath):
    """The first folder on the search path has a possibly broken file, the second an intact copy."""
    first_folder, intact, package = tmp_path / "first", tmp_path / "intact", tmp_path / "package"
    for folder in (first_folder, intact, package):
        folder.mkdir()
    data = first(library())
    if data is not None:
        (first_folder / SONAME).write_bytes(data)
    (intact / SONAME).write_bytes(library())
    caller = package / "caller.so"
    caller.write_bytes(library("caller.so", "$ORIGIN/../first" if rpath else "$ORIGIN/../intact", rpath=rpath))
    env = {"LD_LIBRARY_PATH": str(intact if rpath else first_folder)}
    with LocalHost(Request(), env=env) as host:
        found = Loader(host, str(caller)).find(SONAME)
    really = subprocess.run(
        [sys.executable, "-I", "-S", "-c", REALLY, str(caller), SONAME], env=env, capture_output=True, text=True
    )
    assert found is not None
    if dies:
        assert found.problem is not None
        assert really.stdout.strip() == ""  # an error, or a killed process
    else:
        assert found.problem is None
        assert really.stdout.strip() == found.path


class ClosedHost(FakeHost):
    """Root can read everything, so an unreadable file is simulated."""

    def read_bytes(self, path, offset=0, size=1 << 20):
        return None if path.startswith("/closed/") else super().read_bytes(path, offset, size)


def test_unreadable_copy_is_skipped_if_there_is_another():
    closed = {"/closed/libtiny.so.1": library()}
    env = {"LD_LIBRARY_PATH": "/closed:/open"}
    both = ClosedHost({**closed, "/open/libtiny.so.1": library()}, env=env)
    assert Loader(both, None).find(SONAME) == Copy("/open/libtiny.so.1", "LD_LIBRARY_PATH")
    alone = ClosedHost(closed, env=env)
    assert Loader(alone, None).find(SONAME) == Copy("/closed/libtiny.so.1", "LD_LIBRARY_PATH", "unreadable")
