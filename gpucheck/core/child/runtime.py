"""The main function of every child process: it sends the report to the parent, and exits when the parent is gone.

The report (see ``gpucheck/core/child/messages``) goes to the standard output that the child was started with; anything else
written to standard output goes to the log (standard error).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
from typing import Any

from gpucheck.core.child.messages import AnyMessage, Crashed, Done, Message, Task
from gpucheck.core.child.messages.struct import to_builtins

SCRATCH = "GPUCHECK_SCRATCH"  # the folder of temporary files that the parent removes unless it is killed


class Reporter:
    """A child's report to its parent, and the parent's messages to it."""

    def __init__(self) -> None:
        """Take over the standard streams."""
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._before = b"\n"  # ends a line that the user's start-up code may have written there
        self._messages: list[dict[str, Any]] = []
        self._lifeline = os.dup(0)
        empty, writer = os.pipe()  # a chroot may have no /dev/null
        os.close(writer)
        os.dup2(empty, 0)
        os.close(empty)
        import _thread

        self._writing = _thread.allocate_lock()  # several threads may report
        self._heard = _thread.allocate_lock()
        self._heard.acquire()
        _thread.start_new_thread(self._watch, ())

    def begin(self, kind: type[Message], job: str = "", step: str = "") -> None:
        """Report the start of the stage that ends with a message of this kind, or of a step of it."""
        self._write({"begin": kind.stage, "job": job, "step": step})

    def end(self, message: Message, job: str = "") -> None:
        """Report the end of a stage, with its result."""
        self._write({"end": type(message).__name__, "job": job, "value": to_builtins(message)})

    def receive(self, kind: type[AnyMessage], timeout: float) -> AnyMessage | None:
        """Return the parent's next message, or None if none arrives within ``timeout`` seconds."""
        if self._heard.acquire(True, timeout):
            message = self._messages.pop(0)
            if self._messages:
                self._heard.release()
            return kind(**message)
        return None

    def _write(self, line: dict[str, Any]) -> None:
        data = (json.dumps(line) + "\n").encode()
        with self._writing:
            data, self._before = self._before + data, b""
            while data:
                data = data[os.write(self._out, data) :]

    def _watch(self) -> None:
        """Collect the parent's messages; when the parent is gone, kill this process group."""
        pending = b""
        while True:
            try:
                data = os.read(self._lifeline, 65536)
            except OSError:
                data = b""
            if not data:
                _emptied(os.environ.get(SCRATCH))
                if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
                    os.killpg(0, signal.SIGKILL)
                os._exit(70)
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                self._messages.append(json.loads(line))
                if self._heard.locked():
                    self._heard.release()


def _emptied(folder: str | None) -> None:
    """Remove a folder and its files. Importing here could deadlock: the main thread may hang in an import."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder) if folder else ():
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder or "", name))
        os.rmdir(folder or "")


def main() -> None:
    """Run ``gpucheck.core.<name>.run(reporter, task)``; argv: package folder, name ("child.cuda"), the task's fields as JSON."""
    _, name, text = sys.argv[1:]
    sys.argv[1:] = []
    reporter = Reporter()
    try:
        module = importlib.import_module("gpucheck.core." + name)
        task = next(kind for kind in Task.__subclasses__() if f"{kind.package}.{kind.child}" == name)  # which the module imports
        module.run(reporter, task(**json.loads(text)))
    except BaseException as error:
        import traceback

        traceback.print_exc()
        reporter.end(Crashed(type(error).__name__, str(error)[:2000]))
        sys.stderr.flush()
        os._exit(70)
    reporter.end(Done())
    sys.stderr.flush()
    sys.stdout.flush()
    os._exit(0)  # skip the teardown of interpreter and framework, which can crash or hang
