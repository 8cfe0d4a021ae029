"""Open shared libraries one by one, as TensorFlow does: the loader finds errors that reading the headers can't."""

from __future__ import annotations

import ctypes

from gpucheck.core.child.messages.machine import LibrariesTask, LibraryOpened
from gpucheck.core.child.runtime import Reporter


def run(reporter: Reporter, task: LibrariesTask) -> None:
    """Open each library and report it as a separate stage, so that a crash identifies the library.

    All stay open: as in TensorFlow's process, later libraries find their dependencies among the earlier ones.
    ctypes adds RTLD_NOW, and TensorFlow also uses RTLD_NOW | RTLD_LOCAL (tsl/platform/default/load_library.cc).
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
