"""What runs first in a child: it starts the rest, and tells which of the user's files is in its way, if one is.

The rest takes modules of the standard library, which a file named like one, in the current folder or on PYTHONPATH, may hide.
"""

from __future__ import annotations

import faulthandler
import os

from gpucheck.core.system.shadowing import shadowing_files


def main(seconds: float, files: tuple[int, int] | None = None) -> None:
    """Run ``runtime.main``; what it raises goes on, after the message ``Shadowed``.

    Args:
        seconds: after which this process ends in any case. That is for a parent that was killed while this process hangs in
            code that holds Python's lock: no thread of Python's can end it then, but faulthandler's is none.
        files: the soft and hard limit on open files to take back first, where the parent had raised them for itself.
    """
    report = os.dup(1)
    try:
        import contextlib

        # Too long a time, no room for another thread, no standard error: then there is only the parent.
        with contextlib.suppress(OverflowError, RuntimeError, ValueError, AttributeError, OSError):
            faulthandler.dump_traceback_later(seconds, exit=True)
        if files is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_NOFILE, files)
        from gpucheck.core.child.runtime import main as start

        start()
    except Exception as error:
        hidden = ", ".join(f"{_quoted(name)}: {_quoted(file)}" for name, file in shadowing_files(error).items())
        os.write(report, f'\n{{"end": "Shadowed", "job": "", "value": {{"files": {{{hidden}}}}}}}\n'.encode("utf-8", "replace"))
        raise


def _quoted(text: str) -> str:
    """A string of JSON, whose module may be what is hidden."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
