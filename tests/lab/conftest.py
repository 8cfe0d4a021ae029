"""The fault lab under pytest: what all faults share is built once, and a table says what each of them led to."""

import shutil

import pytest
from lab.bench import Bench, Unavailable

TABLES = {
    "fault": ("fault lab", "{:44} {:34} {:34} {:>4} {:>7} {}", ("fault", "expected", "named", "exit", "seconds", "")),
    "cure": ("cures", "{:44} {:30} {:13} {:30} {}", ("fault", "named", "repair", "named after it", "typed")),
}


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    """The bench, built once."""
    folder = tmp_path_factory.mktemp("lab")
    try:
        yield Bench(folder)
    except Unavailable as error:
        pytest.skip(str(error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # thousands of links: pytest would keep them for three sessions


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
