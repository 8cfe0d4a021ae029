"""``gpucheck lint`` as a user runs it."""

import json
import os
import subprocess
import sys

import pytest
from command import gpucheck

BAD = "import tensorflow as tf\ntf.Session()\n"


@pytest.mark.skipif(sys.platform == "win32", reason="file names are text there")
def test_file_name_that_is_not_valid_text(tmp_path):
    path = os.fsencode(tmp_path) + b"/tr\xe4in.py"
    try:
        with open(path, "w") as file:
            file.write(BAD)
    except OSError:
        pytest.skip("this file system takes text only")
    for style in ("terminal", "github"):
        assert gpucheck("lint", os.fsdecode(path), "--format", style).returncode == 1
    got = json.loads(gpucheck("lint", os.fsdecode(path), "--format", "json").stdout)
    assert got["findings"][0]["file"].endswith("in.py")


def test_other_commands_do_not_import_lint():
    code = "import sys; sys.argv = ['gpucheck', '--version']\nfrom gpucheck.cli import cli\ntry: cli.main()\nexcept SystemExit: pass\nprint([name for name in sys.modules if name.startswith('gpucheck.commands.lint')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60).stdout.endswith("[]\n")


def test_standard_input():
    done = gpucheck("lint", "-", input=BAD)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("-:2:1: legacy-session")


@pytest.mark.timeout(30)
@pytest.mark.parametrize("pattern", ["*a" * 25 + "b", "*_*_*_*_*_*_*_*.bak"])
def test_gitignore_pattern_with_many_stars(tmp_path, pattern):
    (tmp_path / ".gitignore").write_text(f"{pattern}\n")
    (tmp_path / f"{'a_' * 100}.py").write_text(BAD)
    assert gpucheck("lint", tmp_path).returncode == 1
