"""What commands do, as the files of tests/cases/commands say it."""

import itertools

import case_files
import command_cases
import pytest
from case_files import CASES

FILES = sorted(path.stem for path in (CASES / "commands").iterdir())


@pytest.mark.parametrize("file", FILES)
def test_cases(file, tmp_path):
    folders = (tmp_path / str(number) for number in itertools.count())

    def outcome(case):
        (folder := next(folders)).mkdir()
        return command_cases.outcome(case, folder)

    path = CASES / "commands" / f"{file}.txt"
    case_files.check(path, case_files.read(path), outcome, update=False)
