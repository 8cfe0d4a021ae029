"""Inputs for files: arbitrary text, and valid text with changes. More examples: FUZZ_EXAMPLES=1000."""

import os
import time

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "20"))
# The same examples in every run of `make test`; new ones in every run of `make fuzz`.
fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
MOST_SECONDS = 20.0  # of CPU per example: a limit against endless runs, not a measure of speed
_PIECES = (
    b"\x00",
    b"\xff\xfe",
    b"\x80",
    b"\n",
    b'"',
    b"\\",
    b"{",
    b"]",
    b"-1",
    b"9" * 400,
    b"1e999",
    b"NaN",
    b"null",
    b"\x1b[31m",
    b"\xed\xa0\x80",
    b" " * 3000,
)


def texts(*samples):
    """Arbitrary text, or a sample with up to six pieces replaced."""
    return changed(*(sample.encode() for sample in samples)).map(lambda data: data.decode("utf-8", "surrogateescape"))


def changed(*samples):
    """Arbitrary bytes, or a sample with up to six pieces replaced."""
    piece = st.one_of(st.sampled_from(_PIECES), st.binary(max_size=12))
    change = st.tuples(st.floats(0, 1), st.integers(0, 40), piece)
    edited = st.builds(_edited, st.sampled_from(samples), st.lists(change, max_size=6))
    return st.one_of(
        edited, edited, edited, st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace"))
    )


def _edited(sample, changes):
    for place, removed, piece in changes:
        start = int(place * len(sample))
        sample = sample[:start] + piece + sample[start + removed :]
    return sample


class Bounded:
    """Fails if the block used too much CPU time."""

    def __enter__(self):
        self._begun = time.thread_time()

    def __exit__(self, *problem):
        if problem[0] is None:
            assert time.thread_time() - self._begun < MOST_SECONDS
