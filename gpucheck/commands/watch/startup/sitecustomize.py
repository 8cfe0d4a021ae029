"""A module that each Python under ``gpucheck run --watch`` imports at startup: it adds a ``Watch`` to each ``fit`` of Keras 3.

The program must run as if it were absent: the folder is removed from sys.path, a sitecustomize that it hides is imported, and our
errors are ignored. gpucheck itself is imported at the first ``fit``. A named pipe, whose path is in GPUCHECK_WATCH, tells the
monitor outside (``process_monitor.py``) that a Watch has printed. When the program ends, it waits briefly for its lines.
"""

from __future__ import annotations

import atexit
import os
import sys
import time

TYPE_CHECKING = False  # typing is slow to import
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from typing import Any

VARIABLE = "GPUCHECK_WATCH"  # FOLDER/PID of the command
LAST_LINES_SECONDS = 2.0


class Finder:
    """A finder on sys.meta_path that prepares Keras after its import."""

    busy = False

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the other finders' spec for keras; None for every other module."""
        if name != "keras" or cls.busy:
            return None
        cls.busy = True
        try:
            from importlib.util import find_spec

            spec = find_spec(name)
            if spec is not None and spec.loader is not None:
                execute = spec.loader.exec_module

                def exec_module(module: Any) -> None:
                    execute(module)
                    _prepare(module)

                spec.loader.exec_module = exec_module  # type: ignore[method-assign]
            return spec
        except Exception:  # the spec is missing or unexpected: leave it to the other finders
            return None
        finally:
            cls.busy = False


def _prepare(keras: Any) -> None:
    """Add a Watch to the callbacks of each fit."""
    try:
        if int(keras.__version__.partition(".")[0]) < 3:
            return
        kind = keras.callbacks.CallbackList
        create = kind.__init__
    except Exception:  # the user's own module of this name
        return

    def init(self: Any, callbacks: Any = None, add_history: bool = False, *args: Any, **kwargs: Any) -> None:
        create(self, callbacks, add_history, *args, **kwargs)
        if add_history:  # only fit adds a history, not evaluate or predict
            _add(self)

    kind.__init__ = init


def _add(callbacks: Any) -> None:
    try:
        from gpucheck.commands.watch.callback import Watch

        if any(isinstance(callback, Watch) for callback in callbacks.callbacks):
            send(b"w")
            return
        watch = Watch(say=_say)
        watch.set_model(callbacks.model)
        watch.set_params(callbacks.params)
        if watch.worker.number:  # only the first worker prints the summary
            send(b"w")
        callbacks.callbacks.append(watch)
    except Exception:  # gpucheck is not installed here, or another package has this name: the monitor reports from outside
        return


def _say(text: str) -> None:
    from gpucheck.commands.watch.summary import print_lines

    print_lines(text)
    send(b"w")


def send(message: bytes) -> bool:
    """Send the monitor a message: ``w``: a Watch prints; ``e``: the program ends. Return whether a monitor runs."""
    try:
        pipe = os.open(os.environ[VARIABLE], os.O_WRONLY | os.O_NONBLOCK)
        try:
            os.write(pipe, message)
        finally:
            os.close(pipe)
        return True
    except (KeyError, OSError, AttributeError):  # Windows has no O_NONBLOCK
        return False


def _end() -> None:
    """Wait for the monitor's lines, so that they appear before the shell's prompt; it then removes the pipe."""
    path = os.environ.get(VARIABLE, "")
    if os.path.basename(path) != str(os.getpid()) or not send(b"e"):  # this is a child of the command, or a fork
        return
    until = time.monotonic() + LAST_LINES_SECONDS
    while time.monotonic() < until and os.path.exists(path):
        time.sleep(0.01)


def _import_hidden() -> None:
    """Import the sitecustomize that this one shadows. Python reports its errors, as it would without us."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    ours = sys.modules.pop(__name__)
    try:
        __import__(__name__)
    except ModuleNotFoundError as error:
        if error.name != __name__:
            raise
        sys.modules[__name__] = ours


if __name__ == "sitecustomize":  # not when a test or a tool reads gpucheck.commands.watch.startup.sitecustomize
    sys.meta_path.insert(0, Finder)
    atexit.register(_end)
    _import_hidden()
