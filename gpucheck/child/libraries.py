"""Opens shared libraries one by one, as TensorFlow would: what the headers can't tell, the loader does."""

from __future__ import annotations

import ctypes
from typing import Any


def run(stages: Any, args: list[str]) -> None:
    """Open each ``soname=path`` and report it as a stage of its own, so that a crash tells which one it was.

    All stay open in this process: as in TensorFlow's, a later one finds its dependencies among the earlier ones.
    ctypes adds RTLD_NOW, and TensorFlow asks for RTLD_NOW | RTLD_LOCAL too (tsl/platform/default/load_library.cc).
    """
    opened = []
    for arg in args:
        soname, _, path = arg.partition("=")
        stages.begin(soname)
        try:
            opened.append(ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL))
        except OSError as error:
            stages.end(soname, {"opened": False, "error": str(error)})
        else:
            stages.end(soname, {"opened": True, "error": None})
