"""Expectations of a machine: the files that contain them, and which ones a machine meets.

The expectations themselves (``gpucheck.core.model.Expectations``) are part of the request. Snapshots and comparisons of reports
are in ``gpucheck/commands/expectations``.
"""

from collections.abc import Iterable

FORMAT_VERSION = 1  # version of an expectations file: ``schema_version = 1``
NO_EXPECTATIONS = "no expectations were given"  # why the row's rules are skipped in most runs; not a gap
# Share of measured samples/s that a healthy machine may lose between two runs. A check trains for a few hundred milliseconds:
# that shows whether a device is broken, not how fast it is (see docs/expectations.md). `gpucheck bench` measures speed.
SPEED_TOLERANCE = 0.5


def steady(devices: Iterable[str]) -> bool:
    """Whether a job's speed is reproducible: a CPU's depends on other processes."""
    return any(not name.startswith("CPU") for name in devices)
