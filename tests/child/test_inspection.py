"""A large import goes by without Python's search for garbage, which goes on afterwards, without what was imported."""

import subprocess
import sys

import pytest

from gpucheck.child import inspection

IMPORTS = """
import gc
from gpucheck.child import inspection

try:
    with inspection.unsearched():
        assert not gc.isenabled()
        kept = [[] for _ in range(1000)]
        if {fails}:
            raise ImportError("libcudart.so.12")
except ImportError as error:
    print(error)
assert gc.isenabled()
assert gc.get_freeze_count() > 1000
assert not any(one is kept for one in gc.get_objects())
"""


@pytest.mark.parametrize("fails", [False, True])
def test_what_an_import_leaves_is_never_searched_again(fails):
    done = subprocess.run([sys.executable, "-c", IMPORTS.format(fails=fails)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == ("libcudart.so.12" if fails else "")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "it holds [] and no object of settings"),
        ("null", "it holds null and no object of settings"),
        ('{"floatx": "float13"}', 'floatx is "float13" and not one of float32, float16, float64'),
        ('{"epsilon": 1}', "epsilon is 1 and not a number with a decimal point"),
        ('{"image_data_format": ["x"]}', 'image_data_format is ["x"] and not one of channels_last, channels_first'),
        ("{", None),  # Keras takes what is no JSON for nothing
        ('{"floatx": "float16", "epsilon": 1e-3, "backend": "jax"}', None),
    ],
)
def test_settings_that_end_the_import_of_keras_are_told(tmp_path, monkeypatch, text, words):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    file = tmp_path / "keras.json"
    file.write_text(text)
    assert inspection.unusable_settings() == (words and f"{file}: {words}")
    assert inspection.backend_source()[1] in (None, "jax")
