"""The fault lab under pytest: shared parts are built once, and a table shows the result of each fault."""

import contextlib
import pathlib
import shutil
import sys

import pytest
from lab.bench import Bench, Unavailable

TABLES = {
    "fault": ("fault lab", "{:44} {:34} {:34} {:>4} {:>7} {}", ("fault", "expected", "named", "exit", "seconds", "")),
    "cure": ("cures", "{:44} {:30} {:13} {:30} {}", ("fault", "named", "repair", "named after it", "typed")),
}


CUDA = pathlib.Path(sys.prefix) / "cuda"


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    """The bench, built once."""
    with built(tmp_path_factory) as bench:
        yield bench


@pytest.fixture(scope="session")
def cuda_bench(tmp_path_factory):
    """The bench whose environment has NVIDIA's own wheels, of several gigabytes."""
    if not (CUDA / ".done").exists():
        pytest.skip("no environment with NVIDIA's wheels: make cuda-wheels")
    with built(tmp_path_factory, CUDA) as bench:
        yield bench


@contextlib.contextmanager
def built(tmp_path_factory, *arguments):
    """A bench, removed at the end."""
    folder = tmp_path_factory.mktemp("lab")
    try:
        yield Bench(folder, *arguments)
    except Unavailable as error:
        pytest.skip(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # pytest would keep thousands of links for three sessions


def pytest_terminal_summary(terminalreporter, config):
    for kind, (title, row, heads) in TABLES.items():
        rows = [
            values
            for reports in terminalreporter.stats.values()
            for report in reports
            for name, values in getattr(report, "user_properties", ())
            if name == kind and report.when == "call"
        ]
        if rows and any("lab" in argument for argument in config.args):
            terminalreporter.section(title)
            for values in [heads, *sorted(rows)]:
                terminalreporter.write_line(row.format(*values).rstrip())
