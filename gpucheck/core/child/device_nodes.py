"""Open device nodes, one stage each: opening can block in a stuck driver, and the stage identifies the node."""

from __future__ import annotations

import errno
import os

from gpucheck.core.child.messages.machine import DeviceNodesTask, NodeOpened
from gpucheck.core.child.runtime import Reporter

# With O_NONBLOCK NVIDIA's driver wakes a sleeping GPU in the background instead of making the opener wait.
FLAGS = os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)


def run(reporter: Reporter, task: DeviceNodesTask) -> None:
    """Open each path, and report the result.

    Nothing is closed here: closing waits until the GPU is awake, and the end of the process closes everything.
    """
    for path in task.paths:
        reporter.begin(NodeOpened, path)
        try:
            os.open(path, FLAGS)
        except OSError as error:
            reporter.end(NodeOpened(errno.errorcode.get(error.errno or 0, str(error))), path)
        else:
            reporter.end(NodeOpened(), path)
