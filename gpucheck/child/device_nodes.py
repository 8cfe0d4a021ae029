"""Open device nodes, one stage each: opening can block in a wedged driver, and the stage tells on which node."""

from __future__ import annotations

import errno
import os
from typing import Any

# With O_NONBLOCK NVIDIA's driver wakes a sleeping GPU in the background instead of making the opener wait.
FLAGS = os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)


def run(stages: Any, args: list[str]) -> None:
    """Open each path; its stage's value is the name of the error ("EACCES"), or None if it opened.

    Nothing is closed before all are reported: closing waits for the GPU to be awake, and the process' end closes them.
    """
    for path in args:
        stages.begin(path)
        try:
            os.open(path, FLAGS)
        except OSError as error:
            stages.end(path, {"error": errno.errorcode.get(error.errno or 0, str(error))})
        else:
            stages.end(path, {"error": None})
