"""The modules of the standard library that a user's file may not hide, compared with a real import."""

import subprocess
import sys

import pytest

from gpucheck.core.probes._package_files import STANDARD

LOADED = """
import sys
first = set(sys.modules)
import tensorflow
tensorflow.keras.Sequential
print(*sys.modules.keys() - first)
"""


@pytest.mark.tensorflow
def test_import_of_tensorflow_loads_every_module_of_the_list():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=300, check=True)
    assert set(done.stdout.split()) >= STANDARD
