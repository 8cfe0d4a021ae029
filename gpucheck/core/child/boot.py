"""The first code of a child: start ``runtime``, and report user files that shadow modules of the standard library.

A file in the current folder or on PYTHONPATH shadows a module of the same name that ``runtime`` imports.
"""

from __future__ import annotations

import faulthandler
import os

from gpucheck.core.system.shadowing import shadowing_files


def main(seconds: float, files: tuple[int, int] | None = None) -> None:
    """Run ``runtime.main``; report ``Shadowed`` and reraise if it raises.

    Args:
        seconds: after which this process always exits. If the parent is killed while this process hangs in code that holds the
            GIL, no Python thread can end it; faulthandler's native thread can.
        files: the soft and hard limit on open files to restore first, if the parent raised them for itself.
    """
    report = os.dup(1)
    try:
        import contextlib

        # If the time is too long, no thread can start, or there is no standard error, only the parent can end this process.
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
    """Quote a JSON string without the ``json`` module, which may itself be shadowed."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
