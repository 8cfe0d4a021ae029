"""The parent stays below 100 MB with any file: reports, notebooks, logs, expectations."""

import subprocess
import sys

import pytest
from case_files import program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is measured as on Linux")
MOST_MB = 100
# Prints its peak memory at the end.
MEASURED = program("memory_measured.py")
ASIDE = '"metadata":{},"nbformat":4,"nbformat_minor":5}'
OUTPUT = '{"output_type":"stream","name":"stdout","text":"' + "a" * 20_000_000 + '"}'
FILES = {
    "a report of empty lists": (("--replay",), '{"schema_version":"1.0","facts":{"pci":[' + "[]," * 2_600_000 + "[]]}}"),
    "a report of something else": (("--replay",), '{"schema_version":"1.0","facts":{},"x":[' + "{}," * 2_600_000 + "{}]}"),
    "a report too large": (("--replay",), "[" * 30_000_000),
    "two reports": (("compare",), '{"schema_version":"1.0","facts":{},"x":"' + "a" * 8_000_000 + '"}'),
    "expectations too large": (("--quick", "--expect"), "#" * 30_000_000),
    "a notebook with a large output": (
        ("lint",),
        '{"cells":[{"cell_type":"code","source":"","outputs":[' + OUTPUT + "]}]," + ASIDE,
    ),
    "a notebook of nothing": (("lint",), '{"cells":[' + "[]," * 7_000_000 + "[]]," + ASIDE),
    "a log of one line": (("explain",), "a" * 30_000_000),
    "a log of nothing": (("explain",), "\0" * 30_000_000),
}


@pytest.mark.parametrize("case", FILES)
def test_parent_memory_is_bounded_for_huge_files(case, tmp_path):
    args, content = FILES[case]
    path = tmp_path / ("file.ipynb" if args == ("lint",) else "file")
    path.write_text(content)
    done = subprocess.run([sys.executable, "-c", MEASURED, *args, str(path)], capture_output=True, text=True, timeout=100)
    assert "Traceback" not in done.stderr
    assert int(done.stderr.rpartition("peak ")[2]) < MOST_MB << 10, done.stderr[-500:]
