"""The child that opens libraries, run for real."""

import sys

import pytest
from tiny_elf import library, needs_cc, truncated

from gpucheck.core.child.messages import Stage
from gpucheck.core.child.messages.machine import LibrariesTask, LibraryOpened
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request

pytestmark = [needs_cc, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF files")]


def run(folder, **files):
    """Write the files and open them in order in one real child; return the ending, and each library's error."""
    folder.mkdir()
    paths = {f"lib{name}.so.1": folder / f"lib{name}.so.1" for name in files}
    for path, data in zip(paths.values(), files.values(), strict=True):
        if data is not None:
            path.write_bytes(data)
    with LocalHost(Request()) as host:
        child = host.child(LibrariesTask(tuple((soname, str(path)) for soname, path in paths.items())))
        return child.end(), {soname: answer.error for soname, answer in child.messages(LibraryOpened).items()}


def test_errors_of_each_library_are_reported(tmp_path):
    ending, errors = run(tmp_path / "a=b", a=library("liba.so.1"), b=b"text" * 100, c=None, d=library("libd.so.1"))
    assert ending.ok
    assert errors["liba.so.1"] is errors["libd.so.1"] is None
    assert "invalid ELF header" in errors["libb.so.1"]
    assert "No such file" in errors["libc.so.1"]


def test_crash_names_the_library(tmp_path):
    ending, errors = run(tmp_path / "a", a=library("liba.so.1"), b=truncated(library("libb.so.1")), c=library("libc.so.1"))
    assert (ending.ok, ending.how, ending.stage) == (False, "killed by SIGBUS", Stage("dlopen", "libb.so.1"))
    assert errors == {"liba.so.1": None}
