"""What a text only speaks of; most of it is shown by whole texts, in tests/cases/logs/texts/mentions."""

import pytest

from gpucheck.logs.reading.mentions import Listing, is_only_mentioned


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/* returning 0 makes RmInitAdapter print and fail", True),
        (r"found = re.search(r'DRAM Uncorrectable\s+: (\d+)', output)", True),
        ("| 30%   40C    P8    20W / 300W |      1MiB / 24576MiB |      0%   E. Process |", False),
        ("CUDA_VISIBLE_DEVICES=-1", False),
    ],
)
def test_lines_that_no_cause_rests_on(line, expected):
    assert is_only_mentioned(line) is expected


def test_the_rest_of_a_long_stream_is_not_looked_at():
    listing = Listing()
    lines = [f"line {number}" for number in range(5000)]
    assert list(listing.through(lines)) == lines
    assert not listing.is_source
