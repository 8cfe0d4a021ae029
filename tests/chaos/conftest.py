"""Print the matrix of runs with its counts."""

import collections
import contextlib

import pytest


@pytest.fixture
def tried(tmp_path, record_property):
    """Run a cell of the matrix: ``tried(row, column, prepare)``; skipped with the reason if it can't be created here."""
    from chaos.run import Cell, Unavailable

    def run(row, column, prepare):
        with contextlib.ExitStack() as stack:
            cell = Cell(tmp_path / "cell", stack)
            try:
                prepare(cell)
                seconds, problems = cell.run()
            except Unavailable as error:
                record_property("chaos", (row, column, "-", 0.0))
                pytest.skip(str(error))
        record_property("chaos", (row, column, "WRONG" if problems else "ok", seconds))
        assert problems == []

    return run


def pytest_terminal_summary(terminalreporter):
    rows = collections.defaultdict(dict)
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()) if hasattr(report, "when") else ():
                if name == "chaos" and report.when == "call":
                    row, column, outcome, seconds = value
                    rows[row][column] = (outcome, seconds)
    if not rows:
        return
    terminalreporter.section("chaos")
    cells = [cell for row in rows.values() for cell in row.values()]
    for row, columns in rows.items():
        shown = "  ".join(f"{column} {outcome} {seconds:.1f}" for column, (outcome, seconds) in columns.items())
        terminalreporter.write_line(f"{row:36} {shown}")
    counts = collections.Counter(outcome for outcome, _ in cells)
    slowest = max(seconds for _, seconds in cells)
    terminalreporter.write_line(
        f"{len(cells)} runs: {counts['ok']} as expected, {counts['WRONG']} wrong, {counts['-']} skipped; slowest: {slowest:.1f} s"
    )
