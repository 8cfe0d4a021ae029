"""Reading files: encodings, byte order marks, Python 2, data named .py, notebooks, folders."""

import io
import os
import pathlib
import shutil
import subprocess
import sys

import nbformat
import pytest
from case_files import table
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from gpucheck.commands.lint import search, source
from gpucheck.commands.lint.magics import without_magics
from gpucheck.commands.lint.source import Unreadable
from gpucheck.core.expectations import toml

MAGICS = pathlib.Path(__file__).parent.parent / "cases" / "lint" / "magics.toml"


def write(folder, name, data):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


@table
def test_program_encodings_are_detected(tmp_path, data, text):
    program = source.read(write(tmp_path, "train.py", data))
    assert program == (text, (), (), text)
    source.parse(program.text)


@table
def test_unreadable_encodings(tmp_path, data, message, line):
    with pytest.raises(Unreadable, match=message) as caught:
        source.read(write(tmp_path, "train.py", data))
    assert caught.value.line == line


def test_missing_special_and_huge_files(tmp_path):
    with pytest.raises(Unreadable, match="cannot be read"):
        source.read(str(tmp_path / "none.py"))
    with pytest.raises(Unreadable, match="not a regular file"):
        source.read(str(tmp_path))
    with pytest.raises(Unreadable, match="cannot be read: a device, not a regular file"):
        source.read("/dev/null")
    text = "a = 1\n" + "#" * (source.PROGRAM_BYTES_MAX - 6)
    assert source.read(write(tmp_path, "small.py", text)).text == text
    with pytest.raises(Unreadable, match=f"too large to be a training script: more than {source.PROGRAM_BYTES_MAX} bytes"):
        source.read(write(tmp_path, "large.py", text + "#"))


@table
def test_syntax_errors_have_a_position(text, line, column):
    with pytest.raises(Unreadable, match="syntax error") as caught:
        source.parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_too_deep_nesting_is_reported():
    with pytest.raises(Unreadable):
        source.parse("(" * 20_000 + ")" * 20_000)


def test_warnings_of_the_program_are_not_printed():
    source.parse("a = '\\d'\nassert (1, 'b')\n")


def test_ignore_comments():
    text = (
        "a  # gpucheck: ignore[no-prefetch]\nb = '# gpucheck: ignore'\nc  # gpucheck: ignore\n"
        "d  # noqa  # gpucheck:ignore[a, b-c]\ne  # gpucheck: ignored\nf  # gpucheck: ignore[]\n"
    )
    assert source.ignored(text) == {1: {"no-prefetch"}, 3: set(), 4: {"a", "b-c"}, 6: {""}}


def test_ignore_comments_in_a_truncated_program():
    assert source.ignored("a  # gpucheck: ignore\nb = (") == {1: set()}


def test_files_ignored_by_git_are_skipped(tmp_path):
    files = {
        ".gitignore": "/built/\n*.tmp.py\n!kept.tmp.py\n",
        "a.tmp.py": "", "kept.tmp.py": "", "built/b.py": "", "src/c.py": "", "src/built/d.py": "",
        "src/.gitignore": "/e.py\n!f.tmp.py\n", "src/e.py": "", "src/f.tmp.py": "",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def found(*paths):
        return [os.path.relpath(path, tmp_path) for path in search.files([str(tmp_path / path) for path in paths])]

    assert found(".") == ["kept.tmp.py", "src/c.py", "src/f.tmp.py", "src/built/d.py"]
    assert found("src", "a.tmp.py") == ["src/c.py", "src/f.tmp.py", "src/built/d.py", "a.tmp.py"]
    (tmp_path / "src/.gitignore").unlink()
    assert "src/f.tmp.py" in found("src"), "the parent folder is not a repository"
    (tmp_path / ".git").mkdir()
    assert "src/f.tmp.py" not in found("src")
    assert found("built") == ["built/b.py"], "a named folder is linted even if it is ignored"


def test_nested_repository_has_its_own_rules(tmp_path):
    for name in (".git/x", "below/.git/x", "a.py", "below/a.py", "below/b.py"):
        write(tmp_path, name, "")
    write(tmp_path, ".gitignore", "a.py\n")
    assert [os.path.relpath(path, tmp_path) for path in search.files([str(tmp_path)])] == ["below/a.py", "below/b.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_gitignore_of_another_user_applies_to_their_folders_only(tmp_path):
    for name in (".git/x", "mine/a.py", "mine/sub/b.py"):
        write(tmp_path, name, "")
    above, inside = write(tmp_path, ".gitignore", "*.py\n"), write(tmp_path, "mine/sub/.gitignore", "b.py\n")

    def found(folder):
        messages = []
        return [os.path.basename(path) for path in search.files([str(tmp_path / folder)], messages.append)], messages

    assert found("mine") == ([], [])
    os.chown(above, 12345, 12345)
    assert found("mine") == (["a.py"], [f"ignored {above}: it belongs to user 12345"])
    os.chown(inside, 12345, 12345)
    os.chown(tmp_path / "mine/sub", 12345, 12345)
    assert found("mine")[0] == ["a.py", "b.py"]
    assert found("mine/sub")[0] == [], "the .gitignore of a named folder's owner is trusted"


@pytest.mark.skipif(shutil.which("rm") is None, reason="no rm")
def test_tree_deeper_than_the_recursion_limit_is_searched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")
    pathlib.Path("a.py").write_text("")
    os.chdir(tmp_path)
    try:
        assert [os.path.basename(path) for path in search.files(["d"])] == ["a.py"]
    finally:
        subprocess.run(["rm", "-rf", "d"], check=True)  # shutil.rmtree recurses


def test_world_writable_gitignore_is_not_used(tmp_path):
    write(tmp_path, "a.py", "")
    path = write(tmp_path, ".gitignore", "*.py\n")
    os.chmod(path, 0o666)
    messages = []
    assert [os.path.basename(path) for path in search.files([str(tmp_path)], messages.append)] == ["a.py"]
    assert messages == [f"ignored {path}: it can be written by every user"]


def test_folders_deeper_than_the_stack(tmp_path):
    folder = write(tmp_path, "top.py", "").removesuffix("/top.py")
    for _ in range(sys.getrecursionlimit() + 200):
        folder += "/a"
        os.mkdir(folder)
    write(pathlib.Path(folder), "deep.py", "")
    try:
        assert [os.path.basename(path) for path in search.files([str(tmp_path)])] == ["top.py", "deep.py"]
    finally:  # pytest can't remove it
        os.unlink(f"{folder}/deep.py")
        os.removedirs(folder)


def test_files_found_in_folders(tmp_path):
    names = "a.py z/b.ipynb z/c.txt .git/d.py __pycache__/e.py env/pyvenv.cfg env/lib/f.py .g.py B/h.py"
    for name in names.split():
        write(tmp_path, name, "")
    found = [
        path.removeprefix(str(tmp_path)).replace("\\", "/") for path in search.files([str(tmp_path), str(tmp_path / "a.py")])
    ]
    assert found == ["/a.py", "/B/h.py", "/z/b.ipynb"]
    assert list(search.files([str(tmp_path / "z" / "c.txt"), "none"])) == [str(tmp_path / "z" / "c.txt"), "none"]


def notebook(folder, *cells, language="python", name="train.ipynb"):
    book = new_notebook(cells=[new_markdown_cell("# title"), *map(new_code_cell, cells)])
    book.metadata["kernelspec"] = {"name": "k", "display_name": "k", "language": language}
    path = folder / name
    nbformat.write(book, path)
    return str(path)


def test_notebook_cells_and_lines(tmp_path):
    program = source.read(notebook(tmp_path, "a = 1\nb = 2", "", "c = 3"))
    assert program.text == "a = 1\nb = 2\n\nc = 3\n"
    assert [program.locate(line) for line in (1, 2, 3, 4)] == [(2, 1), (2, 2), (3, 1), (4, 1)]


def test_magics_are_removed():
    cells = toml.load(MAGICS.read_text(encoding="utf-8"), "magics.toml")["cell"]
    assert [cell for cell in cells if without_magics(cell["text"]).rstrip("\n") != cell["left"].rstrip("\n")] == []


def test_text_around_the_code_of_a_notebook(tmp_path):
    program = source.read(notebook(tmp_path, "!pip install tensorflow==2.15\nimport tensorflow as tf"))
    assert "2.15" not in program.text
    assert program.written == "# title\n!pip install tensorflow==2.15\nimport tensorflow as tf"


def test_notebook_of_another_language(tmp_path):
    assert source.read(notebook(tmp_path, "library(keras) <- 3", language="R")).text == ""


def test_broken_cell_is_reported_and_others_are_read(tmp_path):
    program = source.read(notebook(tmp_path, "a = 1", "b = 1\nc = (a.d, e(", "f = 1"))
    (unread,) = program.unread
    assert (unread.cell, unread.error.line, unread.error.message.partition(":")[0]) == (3, 2, "syntax error")
    assert program.text == "a = 1\nb = c = __unread__(b, c, a.d, e)\nf = 1\n"
    assert [program.locate(line) for line in (1, 2, 3)] == [(2, 1), (3, 1), (4, 1)]


def test_python_2_notebook_is_not_read(tmp_path):
    with pytest.raises(Unreadable, match=r"this is Python 2.* \(cell 3, line 1\)"):
        source.read(notebook(tmp_path, "a = 1", "print a", "b = ("))


@table
def test_invalid_notebooks(tmp_path, data):
    with pytest.raises(Unreadable, match="not a notebook"):
        source.read(write(tmp_path, "a.ipynb", data))


def test_old_notebook_formats(tmp_path):
    old = b'{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": [{"cell_type": "code", "input": "a = 1", "language": "python", "metadata": {}, "outputs": []}]}]}'
    assert source.read(write(tmp_path, "old.ipynb", old)).text == "a = 1\n"


@pytest.mark.skipif(sys.platform != "linux", reason="PATH_MAX of Linux")
def test_unlistable_folder_is_reported(tmp_path, monkeypatch):
    write(tmp_path, "a.py", "")
    monkeypatch.chdir(tmp_path)
    for _ in range(20):  # until the path is too long for the system, because root may list every other folder
        os.mkdir("d" * 250)
        os.chdir("d" * 250)
    monkeypatch.chdir(tmp_path)
    first, unlisted = search.files([str(tmp_path)])
    assert os.path.basename(first) == "a.py"
    assert len(unlisted) > 4096


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfa = 1\r\n")))
    assert source.read("-").text == "a = 1\n"


def test_notebook_as_standard_input(tmp_path, monkeypatch):
    with open(notebook(tmp_path, "a = 1", "b = 2"), "rb") as book:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(book.read())))
    program = source.read("-")
    assert (program.text, program.locate(2)) == ("a = 1\nb = 2\n", (3, 1))


@pytest.mark.parametrize("text", ['{"a": 1}\n', "{print(1)}\n"])
def test_program_that_begins_with_a_brace_is_not_a_notebook(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert source.read("-").text == text


def test_environment_variables_set_by_a_notebook(tmp_path):
    cell = "%env KERAS_BACKEND=jax\n%set_env CUDA_VISIBLE_DEVICES 0\nif a:\n    %env A={b}"
    assert source.read(notebook(tmp_path, cell)).text == (
        '__import__("os").environ["KERAS_BACKEND"] = \'jax\'\n__import__("os").environ["CUDA_VISIBLE_DEVICES"] = \'0\'\n'
        'if a:\n    __import__("os").environ["A"] = str(\'{b}\')\n'
    )


@pytest.mark.timeout(60)
def test_cell_of_magics_is_read_in_linear_time(tmp_path):
    program = source.read(notebook(tmp_path, "!pip install a\n" * 20_000 + "a = 1"))
    assert (program.unread, program.text.strip()) == ((), "a = 1")
