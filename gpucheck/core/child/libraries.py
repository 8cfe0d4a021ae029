"""Opens shared libraries one by one, as TensorFlow would: what the headers can't tell, the loader does."""

from __future__ import annotations

import ctypes

from gpucheck.core.child.messages.files import LibrariesTask, LibraryOpened
from gpucheck.core.child.runtime import Reporter

TASK = LibrariesTask


def run(reporter: Reporter, task: LibrariesTask) -> None:
    """Open each library and report it as a stage of its own, so that a crash tells which one it was.

    All stay open in this process: as in TensorFlow's, a later one finds its dependencies among the earlier ones.
    ctypes adds RTLD_NOW, and TensorFlow asks for RTLD_NOW | RTLD_LOCAL too (tsl/platform/default/load_library.cc).
    """
    opened = []
    for soname, path in task.paths:
        reporter.begin(LibraryOpened, soname)
        try:
            opened.append(ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL))
        except OSError as error:
            reporter.end(LibraryOpened(str(error)), soname)
        else:
            reporter.end(LibraryOpened(), soname)
