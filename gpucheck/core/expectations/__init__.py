"""What a machine is expected to be: files of expectations, snapshots, and the comparison of two reports.

The expectations themselves (``gpucheck.core.model.Expectations``) are part of the request.
"""

from collections.abc import Iterable

FORMAT_VERSION = 1  # of an expectations file: ``schema_version = 1``
NONE_GIVEN = "no expectations were given"  # why the rules of the row are skipped in most runs; never a gap
# Share of measured samples/s that a sound machine may lose between two runs. A check trains for some hundred milliseconds, and
# such a rate tells whether a device is broken, not how fast it is: docs/expectations.md says why. `gpucheck bench` measures.
SPEED_TOLERANCE = 0.5


def steady(devices: Iterable[str]) -> bool:
    """Whether a job's speed says something about the machine: a CPU's is what other processes leave of it."""
    return any(not name.startswith("CPU") for name in devices)
