"""What the findings of a live run cite of its log."""

from gpucheck.model import Evidence, saw
from gpucheck.probes.log import Log


def events(log: Log | None, *kinds: str) -> tuple[Evidence, ...]:
    """Every line of these kinds, withdrawn or not: what a finding of this machine cites besides."""
    if log is None:
        return ()
    return tuple(
        item for place, event in enumerate(log.events) if event.kind in kinds for item in saw(log, f"events[{place}].text")
    )
