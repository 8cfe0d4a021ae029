"""gpucheck's output matches the recorded files: `make goldens` rewrites the files; review the diff."""

import difflib
import pathlib

import pytest
from golden.outputs import ALL, HERE

FOLDERS = {
    "reports": "reports",
    "findings": "findings",
    "helps": "help",
    "manuals": "manual",
    "repairs": "env",
    "setups": "setup",
    "logs": "logs",
}
DIFFERENCE_LINES = 60


@pytest.mark.parametrize("kind", ALL)
def test_output_matches_recorded_files(kind, request):
    printed = ALL[kind]()
    folder = HERE / FOLDERS[kind]
    if request.config.getoption("--update-goldens"):
        write(folder, printed)
    recorded = {str(path.relative_to(HERE)): path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()}
    assert difference(recorded, printed) == ""


def write(folder: pathlib.Path, printed: dict[str, str]) -> None:
    """Replace the files of the folder with these."""
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(HERE)) not in printed:
            path.unlink()
    for name, text in printed.items():
        (HERE / name).parent.mkdir(parents=True, exist_ok=True)
        (HERE / name).write_text(text, encoding="utf-8")


def difference(recorded: dict[str, str], printed: dict[str, str]) -> str:
    """The names of files that differ, and the first lines of a unified diff of all files."""
    names = sorted(name for name in recorded.keys() | printed.keys() if recorded.get(name) != printed.get(name))
    lines = [
        line
        for name in names
        for line in difflib.unified_diff(
            recorded.get(name, "").splitlines(), printed.get(name, "").splitlines(), name, name, n=0, lineterm=""
        )
    ]
    first = f"{len(names)} files differ (run `make goldens`, then read the diff): {', '.join(names[:20])}"
    return "\n".join([first, *lines[:DIFFERENCE_LINES]] if names else [])
