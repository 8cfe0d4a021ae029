"""A monitor process for a command of ``gpucheck run --watch``: when the command ends, it prints a summary of the resources used.

It is for programs in which no ``Watch`` runs: custom loops, PyTorch, another Python. It prints nothing if a Watch printed.
"""

import contextlib
import os
import select
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import psutil

from gpucheck.cli.screen import say_wrapped
from gpucheck.commands.watch.judge import Event
from gpucheck.commands.watch.limits import BUSY_PERCENT, IDLE_PERCENT
from gpucheck.commands.watch.monitor import Monitor
from gpucheck.commands.watch.summary import joined, seconds, uses
from gpucheck.commands.watch.workers import Worker, worker
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import Request
from gpucheck.core.model.fit import GpuUse
from gpucheck.core.model.wording import gib
from gpucheck.core.probes import limits

POLL_SECONDS = 0.2  # interval between checks for the end of the command
SAMPLE_SECONDS = 2.0
GPU_IDLE_SECONDS = 60.0
COMMAND_SECONDS_MIN = 10.0  # a shorter command is not judged
DISK_SHARE = 0.3
FULL_SHARE = 0.9  # share of busy processors
ALONE = Worker()


class Use(NamedTuple):
    """The use of resources by a command."""

    seconds: float
    processors: float  # mean number of busy processors
    processors_all: float  # number that it may use
    memory_bytes: int  # upper bound: shared memory is counted for each process
    disk_share: float | None = None  # share of the time in which tasks of the machine waited for disks; None: unknown
    gpus: tuple[GpuUse, ...] = ()


class Processes:
    """A process and its descendants."""

    def __init__(self, pid: int) -> None:
        """Start with a process id. Raises psutil.NoSuchProcess."""
        self._root = psutil.Process(pid)
        self.cpu_seconds, self.memory_bytes = 0.0, 0

    def ended(self) -> bool:
        """Whether the first process has ended, even if it is not reaped yet."""
        with contextlib.suppress(psutil.Error):
            return not self._root.is_running() or self._root.status() == psutil.STATUS_ZOMBIE
        return True

    def sample(self) -> None:
        """Update memory and CPU time, including descendants that have ended."""
        cpu, memory = 0.0, 0
        with contextlib.suppress(psutil.Error):
            for process in [self._root, *self._root.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    cpu += sum(process.cpu_times()[:4])
                    memory += process.memory_info().rss
        self.cpu_seconds, self.memory_bytes = max(self.cpu_seconds, cpu), max(self.memory_bytes, memory)


def observe(pid: int, pipe: int) -> tuple[Use, list[Event]] | None:
    """Watch a command until its end.

    Args:
        pid: the command's process id.
        pipe: file descriptor for the messages of ``startup/sitecustomize.py``.

    Returns:
        The command's use of resources, and problems; None if a Watch printed, or the command was too short.
    """
    events: list[Event] = []
    processes, monitor = Processes(pid), Monitor(events.append, SAMPLE_SECONDS, GPU_IDLE_SECONDS)
    with LocalHost(Request()) as host:
        processors = limits.usable_processors(host) or 1
    started, waited, message, sampled = time.monotonic(), _disk_seconds(), b"", float("-inf")
    monitor.start()
    while not message and not processes.ended():
        if time.monotonic() - sampled >= SAMPLE_SECONDS:
            processes.sample()
            sampled = time.monotonic()
        if select.select([pipe], [], [], POLL_SECONDS)[0]:
            message = os.read(pipe, 1)
    processes.sample()
    elapsed = time.monotonic() - started
    monitor.stop()
    if message == b"w" or elapsed < COMMAND_SECONDS_MIN:
        return None
    disk = None if waited is None else ((_disk_seconds() or 0.0) - waited) / elapsed
    return Use(elapsed, processes.cpu_seconds / elapsed, processors, processes.memory_bytes, disk, monitor.gpus.uses(())), events


def lines(use: Use, events: Sequence[Event] = (), place: Worker = ALONE) -> list[str]:
    """Return at most three lines: the use of resources, the GPUs, and the first problem or else the limit.

    If several workers train together, only the first one prints more than its problem.
    """
    if place.number:
        return [str(event._replace(text=f"worker {place.number}: {event.text}")) for event in events[:1]]
    parts = [f"worker {place.number} of {place.count}"] if place.count > 1 else []
    parts += [seconds(use.seconds), f"{use.processors:.1f} of {use.processors_all:g} processors busy"]
    parts.append(f"at most {gib(use.memory_bytes)} of memory")
    if use.disk_share is not None:
        parts.append(f"tasks of this machine waited for disks {100 * use.disk_share:.0f} % of the time")
    last = next((f"{event.text} [{event.code}]" for event in events), None) or next(limited(use), "")
    return joined(parts, uses(use.gpus), last)


def limited(use: Use) -> Iterator[str]:
    """Yield the limits of a command on GPUs, the most important first."""
    busy = [gpu.utilization_percent for gpu in use.gpus if gpu.utilization_percent is not None]
    if not busy or max(busy) >= BUSY_PERCENT:
        return
    if max(busy) < IDLE_PERCENT:
        yield "the GPUs were idle. If this was a training run, run in its environment: gpucheck"
        return
    waits = "the GPUs waited for"
    if (use.disk_share or 0.0) >= DISK_SHARE:
        yield f"{waits} disks: keep the data in memory or on a local disk, in fewer, larger files [input-pipeline-bound]"
    if use.processors >= FULL_SHARE * use.processors_all:
        yield f"{waits} the processors, which were all busy: prepare the data once and store it [input-pipeline-bound]"
    if FULL_SHARE <= use.processors < 2:
        yield f"{waits} one busy processor: prepare the data in parallel (num_parallel_calls, num_workers) [input-pipeline-bound]"


def _disk_seconds() -> float | None:
    """Return the seconds since boot in which a task waited for a disk; None if the kernel does not count them."""
    with contextlib.suppress(OSError, ValueError, IndexError), open("/proc/pressure/io") as file:
        return int(file.readline().rpartition("total=")[2]) / 1e6
    return None


def main() -> None:
    """Watch the process sys.argv[1] with the named pipe sys.argv[2], whose folder is removed at the end."""
    pid, path = int(sys.argv[1]), sys.argv[2]
    try:
        result = observe(pid, os.open(path, os.O_RDWR | os.O_NONBLOCK))
        if result is not None:
            summary = lines(*result, worker())
            if summary:
                say_wrapped("\n".join(summary))
    except psutil.NoSuchProcess:  # the command has already ended
        pass
    except Exception as error:
        with contextlib.suppress(OSError):
            print(f"gpucheck: the command was not monitored: {error}", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(os.path.dirname(path), ignore_errors=True)
