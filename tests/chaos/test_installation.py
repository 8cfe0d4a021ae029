"""Every file that an installation of gpucheck needs, removed and halved, under two commands: none is taken for a fault."""

import shutil
import threading
import time

import pytest
from installation import COMMANDS, Installation

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_no_damaged_file_is_taken_for_a_fault(tmp_path, part, record_property):
    installed = Installation(tmp_path / "env")
    names = [*installed.files()][part::PARTS]
    started = time.monotonic()
    problems = [problem for name in names for problem in installed.problems(name)]
    column = f"{len(names)} files, {2 * len(COMMANDS)} runs of each,"
    record_property(
        "chaos", ("damaged installation", f"part {part}: {column}", "WRONG" if problems else "ok", time.monotonic() - started)
    )
    assert problems == []


def test_no_check_beside_upgrades_is_taken_for_a_fault(tmp_path):
    """The package is replaced again and again as pip does it: renamed away, copied file by file, its list of files last."""
    installed = Installation(tmp_path / "env")
    package, old, record = installed.site / "gpucheck", installed.site / "~pucheck", installed.record.read_text()
    ended = threading.Event()

    def upgrade():
        while not ended.is_set():
            installed.record.unlink()
            package.rename(old)
            shutil.copytree(old, package)
            installed.record.write_text(record)
            shutil.rmtree(old)

    thread = threading.Thread(target=upgrade)
    thread.start()
    try:
        checks = [installed.run("node", "--gres", "0", "--drain-reason") for _ in range(200)]
    finally:
        ended.set()
        thread.join()
    assert [done for done in checks if done.stdout] == []
    assert {done.returncode for done in checks} <= {0, 1, 3}
    # Exit code 1 is Python's, where not even the first file was there.
    assert [done.stderr for done in checks if done.returncode == 1 and "Error" not in done.stderr] == []
