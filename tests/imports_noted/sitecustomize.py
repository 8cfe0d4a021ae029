"""Loaded by every Python that a test starts: records an import of the real TensorFlow in the file named by the environment."""

import os
import sys


class Noting:
    """A finder that finds nothing, but records the import of TensorFlow's first submodule."""

    def find_spec(self, name, path=None, target=None):
        if name == "tensorflow.python" and any(os.path.exists(f"{folder}/libtensorflow_framework.so.2") for folder in path or ()):
            with open(os.environ["TEST_IMPORTS_OF_TENSORFLOW"], "a", encoding="utf-8") as file:
                file.write(f"{os.getpid()}\n")


if "TEST_IMPORTS_OF_TENSORFLOW" in os.environ:
    sys.meta_path.insert(0, Noting())
