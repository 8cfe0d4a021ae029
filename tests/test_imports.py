"""Who may import whom: every file's imports against one table. The walls of the house, checked."""

import ast
import pathlib

import pytest

import gpucheck

ROOT = pathlib.Path(gpucheck.__file__).parent
HEAVY = {"tensorflow", "keras", "numpy", "pynvml", "jax", "torch"}
LOOKING = {"os", "io", "pathlib", "subprocess", "socket", "time", "random", "shutil", "glob", "platform", "psutil", "ctypes"}

# folder or file -> (what of ours it may import, what of the world it must not)
WALLS = {
    "model": (("model",), LOOKING),  # only the nouns
    "expectations": (
        ("model", "engine.facts", "engine.plugin", "engine.suggestion", "compat", "probes", "expectations"),
        LOOKING,
    ),
    "engine": (
        ("model", "engine", "host", "ulimits", "probes", "expectations", "logs", "files.read"),
        LOOKING - {"time", "os"},
    ),
    "compat": (("compat",), LOOKING),
    "host": (("model", "ulimits", "host", "child.boot", "child.interpreter", "child.runtime", "child.shadows"), set()),
    "probes": (("model", "engine.plugin", "host", "compat", "probes", "cluster", "logs"), LOOKING - {"time"}),
    "cluster": (("model", "host", "cluster", "probes"), LOOKING - {"time"}),
    "logs": (("model", "engine.plugin", "logs", "probes", "compat", "rules"), LOOKING),
    "rules": (("model", "engine.plugin", "compat", "probes", "rules", "expectations"), LOOKING),
    "reports": (("model", "engine.plugin", "engine.manual", "reports", "compat", "expectations"), LOOKING - {"time"}),
    "strategies": (("strategies",), {"subprocess", "socket", "psutil", "ctypes"}),
    "experiments": (("child", "experiments"), {"subprocess", "socket", "psutil", "msgspec"}),
    "child": (("child", "strategies", "experiments"), {"psutil", "msgspec", "click", "rich"}),
    "api.py": (("model", "host.local", "engine.pipeline", "reports"), LOOKING - {"time"}),
    "redact": (("model", "probes.environment", "redact"), LOOKING),
    "files": (("files",), {"subprocess", "socket"}),
    "lint": (("model", "engine.plugin", "engine.manual", "lint", "reports"), LOOKING - {"os", "io"}),
    "ulimits.py": ((), {"subprocess", "socket"}),
    "launch": (("model", "probes.environment", "files"), {"socket"}),
    "repair": (("model", "engine", "compat", "probes", "rules", "repair", "files"), {"subprocess", "socket"}),
    "bench": (("model", "host", "probes", "compat", "bench", "reports"), LOOKING - {"io", "time"}),
    "cli": (
        (
            "expectations",
            "model",
            "engine",
            "cli",
            "ulimits",
            "child.shadows",
            "host",
            "probes._framework",
            "reports",
            "files",
            "redact",
            "lint",
            "launch",
            "repair",
            "bench",
        ),
        {"subprocess", "socket"},
    ),
}
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


def imports(file):
    """Full names of what a file imports, relative to ours, wherever in the file it does."""
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: a relative import"
            yield node.module
            if node.module == "gpucheck":
                yield from (f"gpucheck.{alias.name}" for alias in node.names)


def wall(file):
    parts = file.split("/")
    return WALLS.get(parts[0])


@pytest.mark.parametrize("file", FILES)
def test_walls(file):
    ours, forbidden = wall(file) or (None, set())
    for name in imports(file):
        top, _, rest = name.partition(".")
        if top == "gpucheck":
            if ours is None or rest in ("", "__version__"):
                continue
            assert any(rest == allowed or rest.startswith(allowed + ".") for allowed in ours), f"{file} imports {name}"
        else:
            assert top not in forbidden, f"{file} imports {name}"


@pytest.mark.parametrize("file", [file for file in FILES if not file.startswith(("child/", "strategies/", "experiments/"))])
def test_the_parent_never_imports_the_patient(file):
    assert not HEAVY & {name.partition(".")[0] for name in imports(file)}


def test_every_part_has_a_wall():
    free = {"__init__.py", "__main__.py"}
    assert {file.split("/")[0] for file in FILES} - free == set(WALLS)


def test_files_stay_short():
    long = {file: count for file in FILES if (count := len((ROOT / file).read_text().splitlines())) > 320}
    assert long == {}
