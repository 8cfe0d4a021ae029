"""Commands and their expected output, from the files of tests/cases/commands."""

import itertools

import case_files
import command_cases
import pytest
from case_files import CASES

CHECK_THIS_MACHINE = ("check", "expectations", "run")  # the commands that require TensorFlow for a healthy machine
FILES = [
    pytest.param(path.stem, marks=pytest.mark.tensorflow if path.stem in CHECK_THIS_MACHINE else ())
    for path in sorted((CASES / "commands").iterdir())
]


@pytest.mark.parametrize("file", FILES)
def test_commands_match_their_cases(file, tmp_path):
    folders = (tmp_path / str(number) for number in itertools.count())

    def outcome(case):
        (folder := next(folders)).mkdir()
        return command_cases.outcome(case, folder)

    path = CASES / "commands" / f"{file}.txt"
    case_files.check(path, case_files.read(path), outcome, update=False)
