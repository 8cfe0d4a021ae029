"""Main memory: how much of it is left, and what refused an allocation, the memory or the limit on the address space."""

import re

from gpucheck.model import Evidence, Skip, saw
from gpucheck.probes.limits import Limits
from gpucheck.probes.log import Event, Log
from gpucheck.probes.training import Training
from gpucheck.rules._training import Failure, failure

# What a program says that is told no; one that is killed says nothing.
FAILED = r"allocator cpu|MemoryError|bad_alloc|[Cc]annot allocate memory|allocator CPU|mklcpu"
KILLED = ("SIGKILL", "KILL", "9", "137")


def room(limits: Limits | None) -> tuple[int | None, tuple[Evidence, ...]]:
    """Bytes of main memory that this process may still use, as far as known, and where that was seen."""
    if limits is None:
        return None, ()
    rooms: list[tuple[int, tuple[str, ...]]] = []
    if limits.memory_available_bytes is not None:
        rooms.append((limits.memory_available_bytes, ("memory_available_bytes",)))
    if limits.memory_limit_bytes is not None:
        left = max(0, limits.memory_limit_bytes - (limits.memory_limit_used_bytes or 0))
        rooms.append((left, ("memory_limit_bytes", "memory_limit_used_bytes")))
    if not rooms:
        return None, ()
    least, fields = min(rooms)
    return least, saw(limits, *fields)


def exhausted(training: Training | None, log: Log | None) -> Failure | None:
    """An allocation in main memory that failed, or a log that tells of a kill for want of it."""
    kinds = ("host-out-of-memory", "out-of-memory", "allocator-dump", "killed")
    seen = failure(training, log, FAILED, *kinds, where=_of_host)
    return None if isinstance(seen, Skip) else seen


def refused(limits: Limits | None, training: Training | None, log: Log | None, *kinds: str) -> Failure | None:
    """An allocation, or an event of these kinds besides, that the limit on the address space refused.

    It was not the memory: more than the limit was free. None as well where either is unknown.
    """
    free, _ = room(limits)
    if limits is None or limits.address_space_bytes is None or free is None or free <= limits.address_space_bytes:
        return None

    def told_no(event: Event) -> bool:
        return event.kind in kinds or (_of_host(event) and re.search(FAILED, event.text) is not None)

    seen = failure(training, log, FAILED, "host-out-of-memory", "out-of-memory", "allocator-dump", *kinds, where=told_no)
    return None if isinstance(seen, Skip) else seen


def _of_host(event: Event) -> bool:
    if event.kind in ("out-of-memory", "allocator-dump"):
        return event.fields.get("allocator") == "cpu"
    return event.kind != "killed" or re.sub(r"^signal ", "", event.fields.get("signal", "")) in KILLED
