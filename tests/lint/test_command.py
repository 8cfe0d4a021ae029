"""``gpucheck lint`` as a user runs it."""

import json
import os
import subprocess
import sys

import pytest
from command import gpucheck

BAD = "import tensorflow as tf\ntf.Session()\n"


def test_clean_found_and_unreadable(tmp_path):
    (tmp_path / "good.py").write_text("import tensorflow as tf\n")
    (tmp_path / "bad.py").write_text(BAD)
    clean = gpucheck("lint", "good.py", cwd=tmp_path)
    assert (clean.returncode, clean.stdout, clean.stderr) == (0, "no findings in 1 file\n", "")
    found = gpucheck("lint", "bad.py", "good.py", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (1, "")
    assert found.stdout.startswith("bad.py:2:1: legacy-session: tf.Session was removed in TensorFlow 2.\n    do  ")
    broken = gpucheck("lint", "none.py", "bad.py", cwd=tmp_path)
    assert (broken.returncode, broken.stderr) == (2, "")
    assert "none.py: unreadable: cannot be read: No such file or directory\n" in broken.stdout
    assert "bad.py:2:1: legacy-session" in broken.stdout
    assert broken.stdout.endswith("1 finding in 1 of 1 file, 1 not readable\n")


def test_formats(tmp_path):
    (tmp_path / "bad.py").write_text(BAD)
    (tmp_path / "old.py").write_text("print 'a'\n")
    got = json.loads(gpucheck("lint", ".", "--format", "json", cwd=tmp_path).stdout)
    assert [(one["file"], one["code"]) for one in got["findings"]] == [(os.path.join(".", "bad.py"), "legacy-session")]
    assert got["unreadable"][0]["message"].startswith("this is Python 2")
    lines = gpucheck("lint", ".", "--format", "github", cwd=tmp_path).stdout.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::error"]


def test_nothing_of_the_script_is_executed(tmp_path):
    (tmp_path / "train.py").write_text(f"import tensorflow as tf\nopen({str(tmp_path / 'ran')!r}, 'w')\ntf.Session()\n")
    (tmp_path / "tensorflow.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    done = gpucheck("lint", "train.py", cwd=tmp_path)
    assert done.returncode == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tensorflow.py", "train.py"]


@pytest.mark.skipif(sys.platform == "win32", reason="file names are text there")
def test_a_file_name_that_is_no_text(tmp_path):
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


def test_pages_and_table():
    page = gpucheck("explain", "backend-set-after-import").stdout
    assert 'This is found:\n    import os\n    import keras\n    os.environ["KERAS_BACKEND"] = "jax"\n    This is not:\n' in page
    got = json.loads(gpucheck("explain", "backend-set-after-import", "--format", "json").stdout)
    assert (got["row"], got["severity"]) == ("training-script", "error")
    rows = {(one["row"], one["code"]) for one in json.loads(gpucheck("rules", "--format", "json").stdout)}
    assert ("training-script", "softmax-not-float32") in rows
    assert "Training script" in gpucheck("rules").stdout
    assert "did you mean no-prefetch" in gpucheck("explain", "no-prefetsh").stderr


def test_the_other_commands_do_not_pay_for_it():
    code = "import sys; sys.argv = ['gpucheck', '--version']\nfrom gpucheck.cli import cli\ntry: cli.main()\nexcept SystemExit: pass\nprint([name for name in sys.modules if name.startswith('gpucheck.lint')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60).stdout.endswith("[]\n")


def test_standard_input():
    done = gpucheck("lint", "-", input=BAD)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("-:2:1: legacy-session")
