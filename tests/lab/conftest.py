"""The fault lab under pytest: the faults that were selected run two at a time, and ``-s`` prints their table."""

import concurrent.futures
import shutil

import pytest
from lab.bench import NOTHING, Bench, Fault, Result, Unavailable

PARALLEL = 2
table: list[tuple[Fault, Result]] = []


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


@pytest.fixture(scope="session")
def running(request, bench):
    """Futures of the results of the selected faults, by name."""
    faults = [item.callspec.params["fault"] for item in request.session.items if "running" in getattr(item, "fixturenames", ())]
    with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
        futures = {fault.name: pool.submit(bench.run, fault) for fault in faults}
        yield futures
        for future in futures.values():
            future.cancel()


@pytest.fixture
def result(running, fault):
    """What that fault led to."""
    found = running[fault.name].result()
    table.append((fault, found))
    return found


def pytest_terminal_summary(terminalreporter, config):
    if not table or config.getoption("capture") != "no":
        return
    terminalreporter.section("fault lab")
    terminalreporter.write_line(f"{'fault':44} {'expected':34} {'named':34} {'exit':>4} {'seconds':>7}")
    for fault, found in table:
        expected = fault.expected if isinstance(fault.expected, str) else " | ".join(fault.expected)
        expected = "(no error)" if fault.expected == NOTHING else expected
        mark = "skipped" if found.skipped else "" if not found.problems else "WRONG"
        code = "-" if found.exit is None else found.exit
        terminalreporter.write_line(
            f"{fault.name:44} {expected[:34]:34} {found.named:34} {code:>4} {found.seconds:>7.2f} {mark}".rstrip()
        )
    tried = [found for _, found in table if not found.skipped]
    right = sum(not found.problems for found in tried)
    terminalreporter.write_line(f"{right} of {len(tried)} as they must be, {len(table) - len(tried)} skipped")
