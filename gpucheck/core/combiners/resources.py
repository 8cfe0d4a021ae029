"""What this process is granted and by whom, how much main memory is left, and what refused an allocation: memory or a limit."""

import re

from gpucheck.core.combiners.training_outcomes import Failure, TrainingOutcomes
from gpucheck.core.logs.events import Event, Kind, of_host
from gpucheck.core.model import Evidence, Fact, Skip, saw
from gpucheck.core.model.plugin import combiner
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.limits import Limits

# What a program says whose allocation was refused; one that is killed says nothing.
REFUSED = r"allocator cpu|MemoryError|bad_alloc|[Cc]annot allocate memory|allocator CPU|mklcpu"
_ALLOCATION_KINDS = (Kind.HOST_OUT_OF_MEMORY, Kind.OUT_OF_MEMORY, Kind.ALLOCATOR_DUMP)


class Resources(Fact, frozen=True, kw_only=True):
    """What this process may still use, and where an allocation failed."""

    limits: Limits | None
    container: Container | None
    outcomes: TrainingOutcomes
    free_bytes: int | None  # of main memory, as far as known
    evidence: tuple[Evidence, ...]  # of ``free_bytes``

    def refused_by_limit(self, *kinds: str) -> Failure | None:
        """An allocation, or an event of these kinds besides, that the limit on the address space refused.

        It was not the memory: more than the limit was free. None as well where either is unknown.
        """
        limit = self.limits.address_space_bytes if self.limits is not None else None
        if limit is None or self.free_bytes is None or self.free_bytes <= limit:
            return None

        def refused(event: Event) -> bool:
            return event.kind in kinds or (of_host(event) and re.search(REFUSED, event.text) is not None)

        failure = self.outcomes.failure(REFUSED, *_ALLOCATION_KINDS, *kinds, where=refused)
        return None if isinstance(failure, Skip) else failure


@combiner
def combine(limits: Limits | None, container: Container | None, outcomes: TrainingOutcomes) -> Resources:
    """The least of what the machine has available and the control group allows."""
    rooms: list[tuple[int, tuple[str, ...]]] = []
    if limits is not None and limits.memory_available_bytes is not None:
        rooms.append((limits.memory_available_bytes, ("memory_available_bytes",)))
    if limits is not None and limits.memory_limit_bytes is not None:
        left = max(0, limits.memory_limit_bytes - (limits.memory_limit_used_bytes or 0))
        rooms.append((left, ("memory_limit_bytes", "memory_limit_used_bytes")))
    free, fields = min(rooms, default=(None, ()))
    evidence = saw(limits, *fields) if limits is not None else ()
    return Resources(limits=limits, container=container, outcomes=outcomes, free_bytes=free, evidence=evidence)
