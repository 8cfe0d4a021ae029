"""Garbage collection is disabled during a large import, and later ignores the imported objects."""

import subprocess
import sys

import pytest
from case_files import program, table

from gpucheck.core.training import inspection

IMPORTS = program("inspection_imports.py")


@pytest.mark.parametrize("fails", [False, True])
def test_objects_of_an_import_are_excluded_from_garbage_collection(fails):
    done = subprocess.run([sys.executable, "-c", IMPORTS.format(fails=fails)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == ("libcudart.so.12" if fails else "")


@table
def test_keras_settings_that_prevent_its_import_are_reported(tmp_path, monkeypatch, text, words):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    file = tmp_path / "keras.json"
    file.write_text(text)
    assert inspection.unusable_settings() == (words and f"{file}: {words}")
    assert inspection.backend_source()[1] in (None, "jax")
