"""Engines that run a check on each node: Slurm and Ray, both with time limits. Unusable nodes are reported.

An engine writes each node's report into a folder, atomically. It yields each node when it is done, with the reason if there is
no report.
"""

import concurrent.futures
import contextlib
import json
import math
import os
import re
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gpucheck.commands.fleet.ray_driver import NODES, SELECTED
from gpucheck.core.host import Host
from gpucheck.core.system.write import replace

AT_A_TIME, MOST_TOGETHER = 64, 4096  # concurrent srun calls; the second value if the nodes wait for each other
ASK_SECONDS = 20.0  # timeout for the list of nodes
CONNECT_SECONDS = 60.0  # timeout to connect to Ray, whose worker processes start slowly
GRACE_SECONDS = 15.0  # in addition to a node's limit, for the engine to start and end the command
POLL_SECONDS = 0.1
CANCEL_SECONDS = 5.0
RUNNABLE = ("idle", "mixed", "allocated", "completing", "planned", "reserved")  # usable states of a node in Slurm
MARK = "gpucheck-node|"  # precedes each node in the output of sinfo
# Without the current folder on the path:
DRIVER = "import sys; sys.path[:1] = []; from gpucheck.commands.fleet.ray_driver import main; main()"
ERROR_LENGTH = 300  # characters of a program's error message


class Task(NamedTuple):
    """What to run on which nodes."""

    engine: str
    address: str
    nodes: tuple[str, ...] | None  # None: all
    options: tuple[str, ...]  # of the engine
    folder: str | None  # where to keep the reports; None: they are not kept
    limit: float  # seconds for each node
    arguments: tuple[str, ...]  # of gpucheck
    port: int | None = None  # all train together, each worker on this port; None: each is checked separately


def most_seconds(task: Task, count: int) -> float:
    """Return the maximum duration of a check of this many nodes: the number of concurrent srun calls is limited."""
    turns = math.ceil(count / AT_A_TIME) if task.engine == "slurm" and task.port is None else 1
    return CONNECT_SECONDS + max(1, turns) * 2 * (task.limit + 2 * GRACE_SECONDS)


class Unusable(Exception):
    """The engine can't be used; the message is one line."""


class EngineTimeout(Unusable):
    """The engine exists, but did not respond."""


class ClusterNode(NamedTuple):
    """A node of the cluster."""

    problem: str | None  # why it can't be used
    address: str  # a name or an IP address by which other nodes find it


class Slurm:
    """One srun for each node, so that a busy or hung node does not delay the others."""

    def __init__(self, host: Host, folder: str, task: Task) -> None:
        """Set the host that starts processes, the folder of reports, and what to run."""
        self._host, self._folder, self._task = host, folder, task
        self._name = f"gpucheck-fleet-{os.getpid()}"

    def nodes(self) -> dict[str, ClusterNode]:
        """Return the nodes listed by sinfo. Raises Unusable."""
        listed = self._host.run(["sinfo", "-h", "-N", "-o", f"{MARK}%N|%o|%T|%E"], timeout=ASK_SECONDS)
        if listed.ending == "not found":
            raise Unusable("sinfo not found: this machine is not part of a Slurm cluster")
        if listed.ending != "exited" or listed.returncode != 0:
            raise EngineTimeout(f"sinfo: {_error_line(listed.stderr) or listed.ending}")
        found: dict[str, ClusterNode] = {}
        for line in listed.stdout.split(MARK)[1:]:  # a reason may have several lines
            name, address, state, reason = [*" ".join(line.split()).split("|", 3), "", "", ""][:4]
            usable = state.rstrip("*~#!%$@^-+") in RUNNABLE and not state.endswith("*")  # "*": not responding
            why = ": ".join(part for part in (state, reason.strip()) if part not in ("", "none"))
            found[name] = ClusterNode(None if usable else why, address or name)
        return found

    def check(self, selected: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str | None]]:
        """Run srun in threads; late jobs are also canceled in Slurm."""
        pool = concurrent.futures.ThreadPoolExecutor(AT_A_TIME if self._task.port is None else MOST_TOGETHER)
        futures = [pool.submit(self._check, name, variables) for name, variables in selected.items()]
        try:
            for future in concurrent.futures.as_completed(futures):
                yield future.result()
        finally:  # Ctrl-C does not wait for running jobs
            pool.shutdown(wait=False, cancel_futures=True)
            if not all(future.done() for future in futures):
                self._host.run(["scancel", "-n", self._name], timeout=CANCEL_SECONDS)

    def _check(self, name: str, variables: Mapping[str, str]) -> tuple[str, str | None]:
        env = ["env", *(f"{key}={value}" for key, value in variables.items())] if variables else []
        limit, arguments = self._task.limit, self._task.arguments
        for program in ([*env, sys.executable, "-m", "gpucheck"], [*env, "gpucheck"]):
            options = ("--quiet", "-N1", "-n1", "-w", name, f"--immediate={max(1, int(limit))}", f"--job-name={self._name}")
            argv = ["srun", *options, *self._task.options, *program, *arguments]
            done = self._host.run(argv, timeout=limit + GRACE_SECONDS)
            if done.ending != "exited":
                self._host.run(["scancel", "-n", self._name, "-w", name], timeout=CANCEL_SECONDS)
                late = done.ending == "timed out"
                return name, f"no response within {limit + GRACE_SECONDS:g} s" if late else f"srun {done.ending}"
            if done.stdout.strip():
                return name, keep(self._folder, name, done.stdout)
            error_line = _error_line(done.stderr)
            if "No such file" not in error_line and "No module named" not in error_line:
                return name, error_line or f"srun exited with status {done.returncode}, no output"
        return name, "gpucheck is not installed there"


class Ray:
    """One task for each node, pinned to it. Only a separate process imports Ray."""

    def __init__(self, host: Host, folder: str, task: Task) -> None:
        """Set the host that starts processes, the folder of reports, and what to run."""
        self._host, self._folder, self._limit = host, folder, task.limit
        given = {"address": task.address, "folder": folder, "arguments": task.arguments, "limit": task.limit}
        self._argv = [sys.executable, "-c", DRIVER, json.dumps({**given, "grace": GRACE_SECONDS})]
        self._thread = threading.Thread(target=self._drive, name="ray", daemon=True)
        self._ended: str | None = None

    def _drive(self) -> None:
        done = self._host.run(self._argv, timeout=CONNECT_SECONDS + self._limit + 2 * GRACE_SECONDS)
        self._ended = _error_line(done.stderr) or f"Ray's driver {done.ending}"

    def nodes(self) -> dict[str, ClusterNode]:
        """Return the nodes that the driver wrote after it connected. Raises Unusable."""
        self._thread.start()
        end = time.monotonic() + CONNECT_SECONDS
        while not os.path.exists(f"{self._folder}/{NODES}"):
            if self._ended is not None:
                raise Unusable(self._ended)
            if time.monotonic() > end:
                raise EngineTimeout(f"Ray did not respond within {CONNECT_SECONDS:g} s")
            time.sleep(POLL_SECONDS)
        with open(f"{self._folder}/{NODES}", encoding="utf-8") as file:
            return {name: ClusterNode(*known) for name, known in json.load(file).items()}

    def check(self, selected: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str | None]]:
        """Select the nodes for the running driver, and yield each when its report or problem is in the folder."""
        replace(
            f"{self._folder}/{SELECTED}", json.dumps({name: dict(variables) for name, variables in selected.items()}).encode()
        )
        pending = set(selected)
        while pending:
            over = not self._thread.is_alive()  # read before the folder, so that the last files are found too
            for name in sorted(pending):
                problem = self._problem(name)
                if problem is not None or os.path.exists(f"{self._folder}/{name}.json"):
                    pending.discard(name)
                    yield name, problem
            if over:
                break
            time.sleep(POLL_SECONDS)
        for name in (NODES, SELECTED):
            with contextlib.suppress(OSError):
                os.unlink(f"{self._folder}/{name}")
        for name in sorted(pending):
            yield name, self._ended or "Ray's driver ended without a result for this node"

    def _problem(self, name: str) -> str | None:
        with contextlib.suppress(OSError), open(f"{self._folder}/{name}.problem", encoding="utf-8") as file:
            return file.read() or "no reason given"
        return None


def keep(folder: str, name: str, text: str) -> str | None:
    """Write a node's report into the folder, without the lines of a TaskProlog before it; return why it can't be written."""
    start = re.search(r"^\{", text, re.MULTILINE)
    text = text[start.start() :] if start else text
    try:
        replace(f"{folder}/{name}.json", text.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        return f"its report could not be written: {error}"
    return None


def _error_line(text: str) -> str:
    """Return the most useful line of a program's standard error: a failed node, Slurm's first error, or else the last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith(("srun: error", "sinfo: error", "slurmstepd: error"))]
    own.sort(key=lambda line: "Node failure" not in line)
    return (own[0] if own else lines[-1] if lines else "")[:ERROR_LENGTH]
