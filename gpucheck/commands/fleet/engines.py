"""Engines that run a check on each node: Slurm and Ray. Each names the nodes that it can't use, and none waits beyond a limit.

An engine puts each node's report into a folder, whole or not at all, and says of every node when it is done, and why without one.
"""

import concurrent.futures
import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

from gpucheck.core.host import Host
from gpucheck.core.system.write import replace

AT_A_TIME = 64  # nodes that Slurm is asked for at the same time
ASK_SECONDS = 20.0  # for the list of nodes
CONNECT_SECONDS = 60.0  # to a cluster of Ray: its worker processes start slowly
GRACE_SECONDS = 15.0  # beside a node's own limit, for the engine to start and end the command
POLL_SECONDS = 0.1
CANCEL_SECONDS = 5.0
RUNNABLE = ("idle", "mixed", "allocated", "completing", "planned", "reserved")  # states of a node of Slurm
NODES, WANTED = "@nodes", "@wanted"  # the files in which Ray's driver names the nodes, and is told which to look at
DRIVER = "import sys; sys.path[:1] = []; from gpucheck.core.child.ray_fleet import main; main()"  # without the current folder
WORDS = 300  # characters of what a program complains of


class Looked(NamedTuple):
    """A node whose check is over; ``problem``: why there is no report."""

    node: str
    problem: str | None


class Unusable(Exception):
    """Why an engine can't be used at all, in one line."""


class NoAnswer(Unusable):
    """The engine is there, and does not answer."""


class Known(NamedTuple):
    """A node of the engine."""

    problem: str | None  # why it can't be used
    address: str  # a name or an IP address by which other nodes find it


class Engine(Protocol):
    """What runs a check on each node."""

    def nodes(self) -> dict[str, Known]:
        """Every node. Raises Unusable."""

    def look(self, wanted: Mapping[str, Mapping[str, str]]) -> Iterator[Looked]:
        """Run the check on these nodes, with these variables more; each is told of once, in the order in which they end."""


class Slurm:
    """One srun for each node, so that a node that is busy or hangs holds up no other."""

    def __init__(
        self, host: Host, folder: str, arguments: list[str], limit: float, options: tuple[str, ...], at_a_time: int = AT_A_TIME
    ) -> None:
        """Take what starts children, the folder of reports, gpucheck's arguments, seconds per node, and options of srun."""
        self._host, self._folder, self._arguments, self._limit, self._options = host, folder, arguments, limit, options
        self._at_a_time = at_a_time
        self._name = f"gpucheck-fleet-{os.getpid()}"

    def nodes(self) -> dict[str, Known]:
        """What sinfo tells."""
        asked = self._host.run(["sinfo", "-h", "-N", "-o", "%N|%o|%T|%E"], timeout=ASK_SECONDS)
        if asked.ending == "not found":
            raise Unusable("sinfo was not found: this is no machine of a Slurm cluster")
        if asked.ending != "exited" or asked.returncode != 0:
            raise NoAnswer(f"sinfo: {_complaint(asked.stderr) or asked.ending}")
        found: dict[str, Known] = {}
        for line in asked.stdout.splitlines():
            name, address, state, reason = [*line.split("|", 3), "", "", ""][:4]
            usable = state.rstrip("*~#!%$@^-+") in RUNNABLE and not state.endswith("*")  # "*": it does not answer
            why = ": ".join(part for part in (state, reason.strip()) if part not in ("", "none"))
            found[name] = Known(None if usable else why, address or name)
        return found

    def look(self, wanted: Mapping[str, Mapping[str, str]]) -> Iterator[Looked]:
        """Threads wait; whoever is late is cancelled in Slurm, too."""
        pool = concurrent.futures.ThreadPoolExecutor(self._at_a_time)
        futures = [pool.submit(self._look, name, variables) for name, variables in wanted.items()]
        try:
            for future in concurrent.futures.as_completed(futures):
                yield future.result()
        finally:  # Ctrl-C does not wait for those that are under way
            pool.shutdown(wait=False, cancel_futures=True)
            if not all(future.done() for future in futures):
                self._host.run(["scancel", "-n", self._name], timeout=CANCEL_SECONDS)

    def _look(self, name: str, variables: Mapping[str, str]) -> Looked:
        env = ["env", *(f"{key}={value}" for key, value in variables.items())] if variables else []
        for program in ([*env, sys.executable, "-m", "gpucheck"], [*env, "gpucheck"]):
            options = ("--quiet", "-N1", "-n1", "-w", name, f"--immediate={max(1, int(self._limit))}", f"--job-name={self._name}")
            done = self._host.run(
                ["srun", *options, *self._options, *program, *self._arguments], timeout=self._limit + GRACE_SECONDS
            )
            if done.ending != "exited":
                self._host.run(["scancel", "-n", self._name, "-w", name], timeout=CANCEL_SECONDS)
                return Looked(
                    name, f"no answer within {self._limit:g} s" if done.ending == "timed out" else f"srun {done.ending}"
                )
            if done.stdout.strip():
                return Looked(name, keep(self._folder, name, done.stdout))
            complaint = _complaint(done.stderr)
            if "No such file" not in complaint and "No module named" not in complaint:
                return Looked(name, complaint or f"srun ended with {done.returncode}, without a word")
        return Looked(name, "no gpucheck is installed there")


class Ray:
    """One task for each node, pinned to it. Ray itself is only imported by a process of its own."""

    def __init__(self, host: Host, folder: str, arguments: list[str], limit: float, address: str) -> None:
        """Take what starts children, the folder of reports, gpucheck's arguments, seconds per node, and Ray's address."""
        self._host, self._folder, self._limit = host, folder, limit
        asked = {"address": address, "folder": folder, "arguments": arguments, "limit": limit, "grace": GRACE_SECONDS}
        self._argv = [sys.executable, "-c", DRIVER, json.dumps(asked)]
        self._thread = threading.Thread(target=self._drive, name="ray", daemon=True)
        self._ended: str | None = None

    def _drive(self) -> None:
        done = self._host.run(self._argv, timeout=CONNECT_SECONDS + self._limit + 2 * GRACE_SECONDS)
        self._ended = _complaint(done.stderr) or f"Ray's driver {done.ending}"

    def nodes(self) -> dict[str, Known]:
        """What the driver wrote once it was connected."""
        self._thread.start()
        end = time.monotonic() + CONNECT_SECONDS
        while not os.path.exists(f"{self._folder}/{NODES}"):
            if self._ended is not None:
                raise Unusable(self._ended)
            if time.monotonic() > end:
                raise NoAnswer(f"Ray did not answer within {CONNECT_SECONDS:g} s")
            time.sleep(POLL_SECONDS)
        with open(f"{self._folder}/{NODES}", encoding="utf-8") as file:
            return {name: Known(*known) for name, known in json.load(file).items()}

    def look(self, wanted: Mapping[str, Mapping[str, str]]) -> Iterator[Looked]:
        """The driver has begun already; what it leaves in the folder is told."""
        replace(f"{self._folder}/{WANTED}", json.dumps({name: dict(variables) for name, variables in wanted.items()}).encode())
        awaited = set(wanted)
        while awaited:
            over = not self._thread.is_alive()  # asked first: what it wrote at last is still found
            for name in sorted(awaited):
                problem = self._problem(name)
                if problem is not None or os.path.exists(f"{self._folder}/{name}.json"):
                    awaited.discard(name)
                    yield Looked(name, problem)
            if over:
                break
            time.sleep(POLL_SECONDS)
        for name in (NODES, WANTED):
            with contextlib.suppress(OSError):
                os.unlink(f"{self._folder}/{name}")
        for name in sorted(awaited):
            yield Looked(name, self._ended or "Ray's driver ended without an answer of this node")

    def _problem(self, name: str) -> str | None:
        with contextlib.suppress(OSError), open(f"{self._folder}/{name}.problem", encoding="utf-8") as file:
            return file.read() or "no reason given"
        return None


def keep(folder: str, name: str, text: str) -> str | None:
    """Put a node's report into the folder; why it can't be."""
    try:
        replace(f"{folder}/{name}.json", text.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        return f"its report could not be written: {error}"
    return None


def _complaint(text: str) -> str:
    """The line of a program's standard error that says most: the first of srun's own, else the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith(("srun: error", "sinfo: error", "slurmstepd: error"))]
    return (own[0] if own else lines[-1] if lines else "")[:WORDS]
