"""What every child process runs first: the report of its stages, and the line that ties its life to its parent's.

A child reports each stage when it begins and when it ends, one JSON object per line:

    {"begin": "import"}
    {"end": "import", "value": {...}, "seconds": 3.1}

so that a crash, a hang or the OOM killer still tells how far it got. The lines go to the standard output it was started
with; anything else that writes to standard output lands in the log (standard error).
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from typing import Any

DONE = "done"  # the last stage of a child that ran to its end
SCRATCH = "GPUCHECK_SCRATCH"  # the folder of temporary files that the parent removes, if it is not killed
CRASHED = "crashed"  # its value tells of an exception that no stage expected


class Stages:
    """A child's report to its parent, and the parent's messages to it."""

    def __init__(self) -> None:
        """Take over the standard streams."""
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._messages: list[Any] = []
        self._lifeline = os.dup(0)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        self._started: dict[str, float] = {}
        import _thread

        self._writing = _thread.allocate_lock()  # several threads may report
        self._heard = _thread.allocate_lock()
        self._heard.acquire()
        _thread.start_new_thread(self._watch, ())

    def begin(self, stage: str) -> None:
        """Say that a stage begins."""
        self._started[stage] = time.perf_counter()
        self._write({"begin": stage})

    def end(self, stage: str, value: Any = None) -> None:
        """Say that a stage ended, with what it found (JSON-serialisable)."""
        seconds = time.perf_counter() - self._started.get(stage, time.perf_counter())
        self._write({"end": stage, "value": value, "seconds": seconds})

    def hear(self, timeout: float) -> Any:
        """The parent's next message, or None if none came within ``timeout`` seconds."""
        if self._heard.acquire(True, timeout):
            message = self._messages.pop(0)
            if self._messages:
                self._heard.release()
            return message
        return None

    def _write(self, line: dict[str, Any]) -> None:
        data = (json.dumps(line, default=str) + "\n").encode()
        with self._writing:
            while data:
                data = data[os.write(self._out, data) :]

    def _watch(self) -> None:
        """Collect the parent's messages; when the parent is gone, go too, with everything started here."""
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
    """Remove the files of a folder, and it. Nothing may be imported: the main thread may be at it, and hang."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder) if folder else ():
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder or "", name))
        os.rmdir(folder or "")


def main() -> None:
    """Run ``gpucheck.child.<name>.run(stages, args)``; argv: package folder, name, arguments."""
    _, name, *args = sys.argv[1:]
    sys.argv[1:] = []
    stages = Stages()
    try:
        importlib.import_module("gpucheck.child." + name).run(stages, args)
    except BaseException as error:
        import traceback

        traceback.print_exc()
        stages.end(CRASHED, {"type": type(error).__name__, "message": str(error)[:2000]})
        sys.stderr.flush()
        os._exit(70)
    stages.end(DONE)
    sys.stderr.flush()
    sys.stdout.flush()
    os._exit(0)  # interpreter and framework teardown can crash or hang, and have nothing left to say
