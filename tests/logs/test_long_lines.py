"""Very long lines of one or a few repeated characters: the result is the same. Only termination is asserted, not times."""

import subprocess
import sys

import pytest

from gpucheck.core.logs.reading import lines as raw
from gpucheck.core.logs.reading import mentions, patterns
from gpucheck.core.logs.reading.batches import Batch
from gpucheck.core.logs.reading.mentions import Listing
from gpucheck.core.logs.reading.reader import Window

FILLS = ["a", "ab ", "1", " ", "/a", "(", "a=", "0x", ".", '"', "\\t", 'File "', "\\'", '\\", \\"a', "\u4e2d", "_", "\\n", "<"]
FILLS += ["ComputeCacheXG", "a.so", 'ts="a" ', "torchais the CPU "]

READ = """
import sys
from gpucheck.commands.explain.log import explain
for fill in sys.argv[1:]:
    text = (fill * 100_000)[:100_000]
    report = explain([("", [text, "failed call to cuInit: CUDA_ERROR_NO_DEVICE"])], "log")
    assert [event.line for event in report.facts["log"].events if event.kind == "cuinit-failed"] == [2], fill
"""


def ends(code, *arguments, timeout=60):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=timeout)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("fills", [FILLS[:9], FILLS[9:]])
def test_long_lines_are_read(fills):
    ends(READ, *fills)


def test_continuation_lines_are_added_up_to_a_limit():
    texts = ["tfconfig_cluster_resolver.py", *["x" * 2000] * 40]
    window = Window(Batch(texts, list(range(len(texts))), 1), 0)
    longest = next(pattern for pattern in patterns.load() if pattern.continuation_lines == 30)
    assert len(window.search(longest._replace(regex="tfconfig")).string) < 3 * 2048


def test_both_ends_of_a_long_line_are_examined():
    assert raw.ends("short") == "short"
    cut = raw.ends("begun" + "x" * 100_000 + "ended")
    assert cut.startswith("begun")
    assert cut.endswith("ended")
    assert len(cut) < 3000


def test_checks_of_long_lines_terminate():
    text = "If you see " + "x" * 100_000
    assert mentions.is_only_mentioned(text)
    listing = Listing()
    list(listing.through(["int a = 1;" + " " * 100_000 + "b();"] * 3))
    assert listing.is_source
