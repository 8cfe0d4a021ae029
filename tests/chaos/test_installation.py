"""Every file that an installation of gpucheck needs, removed and halved, under two commands: none is taken for a fault."""

import pytest
from installation import COMMANDS, Installation

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_no_damaged_file_is_taken_for_a_fault(tmp_path, part, record_property):
    installed = Installation(tmp_path / "env")
    names = [*installed.files()][part::PARTS]
    problems = [problem for name in names for problem in installed.problems(name)]
    record_property("runs", len(names) * 2 * len(COMMANDS))
    assert problems == []
