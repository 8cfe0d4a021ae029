import sys

import pytest
from tiny_elf import library, needs_cc, truncated

from gpucheck.host.local import LocalHost
from gpucheck.model import Request

pytestmark = [needs_cc, pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF files")]


def run(tmp_path, **files):
    """Write the files and open each of them, in order, in one real child."""
    arguments = []
    for name, data in files.items():
        path = tmp_path / f"lib{name}.so.1"
        if data is not None:
            path.write_bytes(data)
        arguments.append(f"lib{name}.so.1={path}")
    with LocalHost(Request()) as host:
        child = host.child("libraries", *arguments)
        return child.end(), child.stages()


def test_each_library_is_a_stage(tmp_path):
    ending, stages = run(tmp_path, a=library("liba.so.1"), b=b"text" * 100, c=None, d=library("libd.so.1"))
    assert ending.ok
    assert stages["liba.so.1"] == stages["libd.so.1"] == {"opened": True, "error": None}
    assert stages["libb.so.1"]["opened"] is False
    assert "invalid ELF header" in stages["libb.so.1"]["error"]
    assert "No such file" in stages["libc.so.1"]["error"]


def test_a_crash_tells_which_library_it_was(tmp_path):
    ending, stages = run(tmp_path, a=library("liba.so.1"), b=truncated(library("libb.so.1")), c=library("libc.so.1"))
    assert (ending.ok, ending.how, ending.stage) == (False, "killed by SIGBUS", "libb.so.1")
    assert stages["liba.so.1"] == {"opened": True, "error": None}
    assert "libc.so.1" not in stages


def test_a_path_with_an_equals_sign(tmp_path):
    folder = tmp_path / "a=b"
    folder.mkdir()
    ending, stages = run(folder, a=library("liba.so.1"))
    assert ending.ok
    assert stages["liba.so.1"]["opened"] is True
