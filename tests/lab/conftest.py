"""The fault lab under pytest: what all faults share is built once, and a table says what each of them led to."""

import shutil

import pytest
from lab.bench import Bench, Unavailable

ROW = "{:44} {:34} {:34} {:>4} {:>7} {}"


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
    rows = [
        row
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, row in getattr(report, "user_properties", ())
        if name == "fault" and report.when == "call"
    ]
    if rows and any("lab" in argument for argument in config.args):
        terminalreporter.section("fault lab")
        for row in [("fault", "expected", "named", "exit", "seconds", ""), *sorted(rows)]:
            terminalreporter.write_line(ROW.format(*row).rstrip())
