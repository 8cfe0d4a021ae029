"""Allowed imports: every file's imports are compared with one table."""

import ast
import functools
import graphlib
import pathlib
import re

import gpucheck

ROOT = pathlib.Path(gpucheck.__file__).parent
HEAVY = {"tensorflow", "keras", "numpy", "pynvml", "jax", "torch"}
LOOKING = {"os", "io", "pathlib", "subprocess", "socket", "time", "random", "shutil", "glob", "platform", "psutil", "ctypes"}


def table():
    """Yield each folder or file of tests/cases/imports.txt with the allowed modules of ours and the forbidden other modules."""
    for line in (pathlib.Path(__file__).parent / "cases" / "imports.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, ours, others = re.split("[:|]", line)
            looking, _, allowed = others.strip().partition(" but ")
            yield name, (ours.split(), LOOKING - set(allowed.split()) if looking == "looking" else set(others.split()))


MAY_IMPORT = dict(table())
FREE = {"__init__.py", "__main__.py", "core/__init__.py"}
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


def place(file):
    """The longest matching name of the table for a file, or None."""
    names = [name for name in MAY_IMPORT if file == name or file.startswith(f"{name}/")]
    return max(names, key=len, default=None)


def own_folder(file):
    """The folder that a file may always import: its own, or that of its command."""
    parts = file.removesuffix(".py").split("/")
    return ".".join(parts[:2] if parts[0] in ("core", "commands") else parts[:1])


@functools.cache
def tree(file):
    """A parsed file."""
    return ast.parse((ROOT / file).read_text())


def imports(file):
    """Yield the full names of all imports of a file."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: a relative import"
            yield node.module
            if node.module == "gpucheck":
                yield from (f"gpucheck.{alias.name}" for alias in node.names)


def imported_files(file):
    """Yield the files that a file imports."""
    for node in ast.walk(tree(file)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        paths = [name.removeprefix("gpucheck.").replace(".", "/") for name in names if name.startswith("gpucheck.")]
        yield from (candidate for path in paths if (candidate := f"{path}.py") in FILES)


def forbidden(file):
    """Yield the forbidden imports of a file."""
    ours, others = MAY_IMPORT.get(place(file), (None, set()))
    for name in imports(file):
        top, _, rest = name.partition(".")
        if top in others or (
            top in HEAVY and not file.startswith(("core/child/", "core/training/", "commands/watch/callback.py"))
        ):
            yield f"{file} imports {name}"
        named = top == "gpucheck" and ours is not None and rest not in ("", "__version__", "DISTRIBUTION")
        if named and not any(rest == allowed or rest.startswith(allowed + ".") for allowed in [*ours, own_folder(file)]):
            yield f"{file} imports {name}"


def private_names(file):
    """Yield imports of private names and private modules from other folders."""
    here = ["gpucheck", *file.split("/")[:-1]]
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("gpucheck"):
            for alias in node.names:
                parts = [*node.module.split("."), alias.name]
                private = [place for place, part in enumerate(parts) if part.startswith("_") and not part.startswith("__")]
                if any(parts[:place] != here for place in private):
                    yield f"{file} imports {'.'.join(parts)}"


def test_private_names_stay_in_their_folder():
    assert [name for file in FILES for name in private_names(file)] == []


def test_no_command_names_modules_of_another_in_a_string():
    """A program that it starts may import only its own: it finds others through ``cli.registry``."""
    texts = [
        (file, node.value)
        for file in FILES
        for node in ast.walk(tree(file))
        if file.startswith("commands/") and isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    named = [(file, name) for file, text in texts for name in re.findall(r"gpucheck\.commands\.(\w+)", text)]
    assert len(named) > 20
    assert [(file, name) for file, name in named if name != file.split("/")[1]] == []


def test_packages_import_only_what_the_table_allows():
    assert [found for file in FILES for found in forbidden(file)] == []


def test_every_file_has_an_entry_in_the_table():
    assert {file for file in FILES if place(file) is None} == FREE
    assert {name for name in MAY_IMPORT if not (ROOT / name).exists()} == set()


def test_folders_have_few_entries():
    for folder in (ROOT, ROOT / "core", ROOT / "commands"):
        assert len([path for path in folder.iterdir() if not path.name.startswith("_")]) <= 17


def test_imports_have_no_cycles():
    """graphlib.CycleError names the files of a cycle."""
    graphlib.TopologicalSorter({file: set(imported_files(file)) for file in FILES}).prepare()


def room(name):
    """The folder of a module, below core/ or beside it; a module beside the folders is a room of its own."""
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "core" else parts[0]


def test_no_folders_import_each_other():
    """graphlib.CycleError names the folders of a circle."""
    rooms = {}
    for file in FILES:
        names = [name.removeprefix("gpucheck.").replace(".", "/") for name in imports(file) if name.startswith("gpucheck.")]
        rooms.setdefault(room(file.removesuffix(".py")), set()).update(map(room, names))
    graphlib.TopologicalSorter({name: others - {name} for name, others in rooms.items()}).prepare()


def test_files_stay_short():
    files = [path for folder in (ROOT, pathlib.Path(__file__).parent) for path in folder.rglob("*.py")]
    assert {str(path): count for path in files if (count := len(path.read_text().splitlines())) > 300} == {}
