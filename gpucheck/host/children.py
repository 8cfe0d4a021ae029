"""The processes of one run: started once, shared, and ended with it. Nothing that may take long is done under a lock."""

import threading
import time
import weakref
from collections.abc import Mapping

from gpucheck.host import LOG_LIMIT_BYTES, PLACEMENT_LOG_BYTES
from gpucheck.host.child import EXAMINING, LocalChild, child_argv, child_env
from gpucheck.host.process import REAP_SECONDS, Process
from gpucheck.host.scratch import Scratch
from gpucheck.model import Request

_all: weakref.WeakSet["Children"] = weakref.WeakSet()


def close_all() -> None:
    """End every process that was started here, as the end of this process by force does."""
    for children in list(_all):
        children.close()


class Children:
    """Every method may be called by any thread."""

    def __init__(self, request: Request, env: Mapping[str, str]) -> None:
        """Nothing is started yet.

        Args:
            request: what the user asked for.
            env: the environment of children.
        """
        self.processes: list[Process] = []
        self.shared: dict[tuple[str, ...], LocalChild] = {}
        self._request, self._env = request, env
        self._scratch = Scratch(env)
        self._lock = threading.Lock()
        self._closed = False
        _all.add(self)

    def child(self, name: str, args: tuple[str, ...], limit: float) -> LocalChild:
        """A child process of ours, started on the first call, for at most ``limit`` seconds."""
        key = (name, *args)
        with self._lock:
            child = self.shared.get(key)
            if child is not None:
                return child
            child = self.shared[key] = LocalChild(limit)
        child.start(lambda: self._start_child(name, args))
        return child

    def named(self, name: str) -> list[tuple[tuple[str, ...], LocalChild]]:
        """The children of that name, each with its arguments."""
        with self._lock:
            return [(key[1:], child) for key, child in self.shared.items() if key[0] == name]

    def activity(self) -> str | None:
        """What the child that was started last and is still at work does now."""
        with self._lock:
            children = list(self.shared.values())
        return next((stage for child in reversed(children) if (stage := child.activity())), None)

    def start(
        self, argv: list[str], env: Mapping[str, str], *, lifeline: bool = False, log_bytes: int = LOG_LIMIT_BYTES
    ) -> Process:
        """Start a process, see ``Process``.

        Raises:
            OSError: it can't be started, or the run is over.
        """
        if not self._closed:
            process = Process(argv, env, lifeline=lifeline, log_bytes=log_bytes)
            with self._lock:
                if not self._closed:
                    self.processes.append(process)
                    return process
            process.kill()
            process.close()
        raise OSError("the run is over")

    def close(self) -> None:
        """End every process still running, and start no more."""
        with self._lock:
            self._closed = True
            processes = list(self.processes)
        for process in processes:
            process.signal()
        until = time.monotonic() + REAP_SECONDS
        for process in processes:
            process.kill(until)
        for process in processes:
            process.reap()
            process.close()
        self._scratch.remove()

    def _start_child(self, name: str, args: tuple[str, ...]) -> Process:
        env = child_env(self._request, self._env, name)
        if name in EXAMINING:
            env.update(self._scratch.variables())
        log_bytes = PLACEMENT_LOG_BYTES if self._request.log_device_placement else LOG_LIMIT_BYTES
        return self.start(child_argv(self._request, name, args), env, lifeline=True, log_bytes=log_bytes)
