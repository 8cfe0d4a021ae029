"""The examined interpreter's description of itself: standard library only, in gpucheck's process or under ``--python``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from gpucheck.core.child.messages.machine import Described, Interpreter, InterpreterTask

if TYPE_CHECKING:
    from gpucheck.core.child.runtime import Reporter


def describe() -> Interpreter:
    """Describe the running interpreter."""
    return Interpreter(
        executable=sys.executable,
        version=".".join(str(part) for part in sys.version_info[:3]),
        implementation=sys.implementation.name,
        prefix=sys.prefix,
        base_prefix=sys.base_prefix,
        path=tuple(dict.fromkeys(_absolute(entry) for entry in sys.path)),
        bits=64 if sys.maxsize > 2**32 else 32,
        platform=sys.platform,
        stdlib=os.path.dirname(getattr(os, "__file__", "")),
    )


def _absolute(entry: str) -> str:
    """Return the absolute path; the empty entry is the working directory, which may have been deleted."""
    try:
        return os.path.abspath(entry)
    except OSError:
        return entry


def run(reporter: Reporter, task: InterpreterTask) -> None:
    """Report the interpreter."""
    reporter.begin(Described)
    reporter.end(Described(describe()))
