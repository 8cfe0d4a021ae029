"""The resource limits of this process, its free memory, and whether a failed allocation hit a limit or ran out of memory."""

import re

from gpucheck.core.combiners.training_outcomes import Failure, TrainingOutcomes
from gpucheck.core.logs.events import Event, of_host
from gpucheck.core.model import Evidence, Fact, Skip, combiner, saw
from gpucheck.core.probes.limits import Limits

# Messages of a program whose allocation of main memory was refused; a killed program prints none.
REFUSED = r"allocator cpu|MemoryError|bad_alloc|[Cc]annot allocate memory|allocator CPU|mklcpu"
_ALLOCATION_KINDS = ("host-out-of-memory", "out-of-memory", "allocator-dump")


class Resources(Fact, frozen=True, kw_only=True):
    """The resources that this process may still use."""

    limits: Limits | None
    outcomes: TrainingOutcomes
    free_bytes: int | None  # of main memory; None: unknown
    evidence: tuple[Evidence, ...]  # of ``free_bytes``

    def refused_by_limit(self, *kinds: str) -> Failure | None:
        """Return the first allocation, or event of these kinds, that the limit on the address space refused.

        None if main memory may have run out instead: its free part is not larger than the limit, or one of them is unknown.
        """
        limit = self.limits.address_space_bytes if self.limits is not None else None
        if limit is None or self.free_bytes is None or self.free_bytes <= limit:
            return None

        def refused(event: Event) -> bool:
            return event.kind in kinds or (of_host(event) and re.search(REFUSED, event.text) is not None)

        failure = self.outcomes.failure(REFUSED, *_ALLOCATION_KINDS, *kinds, where=refused)
        return None if isinstance(failure, Skip) else failure


@combiner
def combine(limits: Limits | None, outcomes: TrainingOutcomes) -> Resources:
    """Take the lower of the machine's available memory and the control group's limit."""
    rooms: list[tuple[int, tuple[str, ...]]] = []
    if limits is not None and limits.memory_available_bytes is not None:
        rooms.append((limits.memory_available_bytes, ("memory_available_bytes",)))
    if limits is not None and limits.memory_limit_bytes is not None:
        left = max(0, limits.memory_limit_bytes - (limits.memory_limit_used_bytes or 0))
        rooms.append((left, ("memory_limit_bytes", "memory_limit_used_bytes")))
    free, fields = min(rooms, default=(None, ()))
    return Resources(limits=limits, outcomes=outcomes, free_bytes=free, evidence=saw(limits, *fields))
