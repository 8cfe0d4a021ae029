"""gpucheck's output equals the recorded one: `make goldens` rewrites the files; review the diff."""

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
def test_outputs_are_as_recorded(kind, request):
    printed = ALL[kind]()
    folder = HERE / FOLDERS[kind]
    if request.config.getoption("--update-goldens"):
        write(folder, printed)
    recorded = {str(path.relative_to(HERE)): path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file()}
    assert difference(recorded, printed) == ""


def write(folder: pathlib.Path, printed: dict[str, str]) -> None:
    """Make the folder hold these files and no others."""
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(HERE)) not in printed:
            path.unlink()
    for name, text in printed.items():
        (HERE / name).parent.mkdir(parents=True, exist_ok=True)
        (HERE / name).write_text(text, encoding="utf-8")


def difference(recorded: dict[str, str], printed: dict[str, str]) -> str:
    """Which files differ, and the first lines of a unified diff of all files."""
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
