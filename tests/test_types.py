"""A user's program under type checkers: each line marked ``# wrong`` is one error, and no other."""

import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).parent / "cases" / "programs" / "typed_user.py"
WRONG = [number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1) if line.endswith("# wrong")]
CHECKERS = {"mypy": ["--strict", "--no-incremental", "--python-version", "3.11"], "pyright": ["--pythonversion", "3.11"]}


@pytest.mark.slow  # pyright downloads itself on first use
@pytest.mark.parametrize("name", CHECKERS)
def test_type_checkers_report_exactly_the_marked_lines(name, tmp_path):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed; it is in the extra 'types'")
    (tmp_path / "user.py").write_text(PROGRAM.read_text())
    root = str(PROGRAM.parents[3])
    settings = tmp_path / "mypy.ini", tmp_path / "pyrightconfig.json"
    settings[0].write_text(
        f"[mypy]\nmypy_path = {root}\nfollow_imports = silent\n[mypy-keras.*]\nignore_missing_imports = True\nfollow_imports = skip\n"
    )
    settings[1].write_text(f'{{"extraPaths": ["{root}"], "typeCheckingMode": "strict", "reportUnknownMemberType": false}}')
    argv = [sys.executable, "-m", name, *CHECKERS[name], "user.py"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=280)
    found = re.findall(r"user\.py:(\d+)\S*:? (?:- )?error", done.stdout)
    assert [int(number) for number in found] == WRONG, done.stdout + done.stderr
