"""Locating a command's file, and commands that can't start. test_run.py tests the replacement of the process."""

import os
import sys

import pytest
from case_files import table

from gpucheck.commands.run.exec_command import CannotStart, locate

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="file permissions are POSIX's")


def program(folder, name, mode=0o755):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(mode)
    return str(folder / name)


def test_first_executable_on_path_wins(tmp_path, monkeypatch):
    program(tmp_path / "a", "job", 0o644)
    (tmp_path / "b").mkdir()
    (tmp_path / "b/job").mkdir()
    wanted = program(tmp_path / "c", "job")
    program(tmp_path / "d", "job")
    path = ":".join(str(tmp_path / name) for name in "abcd")
    assert locate("job", {"PATH": path}) == wanted
    assert locate(wanted, {"PATH": ""}) == wanted
    monkeypatch.chdir(tmp_path / "d")
    assert os.path.samefile(locate("job", {"PATH": f":{path}"}), tmp_path / "d/job")  # an empty entry means the working directory


@table
def test_exit_codes_and_messages_of_a_shell(tmp_path, monkeypatch, word, code, why):
    program(tmp_path, "job", 0o644)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CannotStart) as raised:
        locate(word, {"PATH": str(tmp_path)})
    assert (raised.value.exit_code, str(raised.value)) == (code, why)
