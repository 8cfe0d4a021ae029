"""Failures that a text only mentions. Most cases are in tests/cases/logs/texts/mentions."""

from gpucheck.core.logs.reading.mentions import Listing


def test_only_the_start_of_a_long_stream_is_examined():
    listing = Listing()
    lines = [f"line {number}" for number in range(5000)]
    assert list(listing.through(lines)) == lines
    assert not listing.is_source
