""".gitignore files match as in git, and every pattern matches quickly."""

import os
import shutil
import subprocess

import pytest

from gpucheck.commands.lint.gitignore import PATTERN_LENGTH_MAX, patterns

TREE = (
    *("a", "b.py", "ab", "a b", "a ", "#a", "!a", "[a", "a-b", "*", "\\", "x1", "X", "build/a", "build/b.py"),
    *("src/a", "src/b.py", "src/build/a", "src/x/y/a", "src/x/y/b.py", "src/x/a", "y/x/a", "y/[a", "z/z/z/z/a"),
)
LINES = (
    *(
        "a",
        "*",
        "*.py",
        "a*",
        "*a",
        "?",
        "*?*",
        "a ",
        "a\\ ",
        "a\\  ",
        "#a",
        "\\#a",
        "!a",
        "\\!a",
        "build",
        "build/",
        "/build/",
        "build/*",
    ),
    *(
        "src/a",
        "/src/a",
        "/a",
        "**",
        "**/a",
        "src/**",
        "src/**/a",
        "**/x/**",
        "**/x/a",
        "/**/a",
        "**/y/*",
        "a**",
        "x/**/**/a",
        "***",
    ),
    *(
        "[a-b]",
        "[!a]",
        "[^a]",
        "[]a]",
        "[a",
        "[[]a",
        "[\\[]a",
        "a[-]b",
        "[b-a]",
        "[a-]",
        "[[:alpha:]]",
        "[[:alpha:][:digit:]]*",
        "[[:x:]]",
    ),
    *(
        "\\",
        "a\\",
        "\\\\",
        "\\*",
        "[*]",
        "/",
        "//",
        "a//",
        "src//a",
        "*/",
        "*/a",
        "*/*/a",
        "z/**/z/a",
        "z/**/z/**/z/**/z/a",
        "\ufeffa",
    ),
)
FILES = (
    "*\n!*.py\n", "*\n!/src/\n!a\n", "src\n!src/a\n", "/src/*\n!/src/x\n", "a\r\nb.py\r\n", "*.py\n!b.py\n*.py", "\ufeffa\n",
    *(f"{line}\n" for line in LINES),
)  # fmt: skip


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Create a repository with these files."""
    if shutil.which("git") is None or os.name == "nt":
        pytest.skip("needs git, and names that Windows does not allow")
    folder = tmp_path_factory.mktemp("tree")
    subprocess.run(["git", "init", "-q", folder], check=True)
    for name in TREE:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def ignored(lines, path):
    """Whether a path or one of its folders is ignored."""
    names = path.split("/")
    for end in range(1, len(names) + 1):
        if next((line.ignores for line in lines if line.matches(names[:end], folder=end < len(names))), False):
            return True
    return False


@pytest.mark.parametrize("text", FILES)
def test_same_as_git(tree, text):
    (tree / ".gitignore").write_text(text, encoding="utf-8", newline="")
    argv = ["git", "-C", tree, "-c", "core.excludesFile=", "check-ignore", "--no-index", "--stdin", "-z"]
    done = subprocess.run(argv, input="\0".join(TREE), capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    lines = patterns(text)
    assert {name for name in TREE if ignored(lines, name)} == set(done.stdout.split("\0")) - {""}


@pytest.mark.timeout(20)  # a naive regular expression for the whole pattern takes years
@pytest.mark.parametrize(
    "pattern",
    [
        *("*a" * 25 + "b", "*a" * 25 + "b*", "a*" * 499 + "b*", "*_*_*_*_*_*_*_*.bak", "*" * 999, "*?" * 499 + "b*"),
        *("*[a-z]" * 160 + "[b]*", "**/" + "a/" * 200 + "b/**/a", "**/a/" * 190 + "b/**", "[" * 999, "[[:" * 333, "\\" * 999),
    ],
)
def test_every_pattern_is_fast(pattern):
    assert len(pattern) <= PATTERN_LENGTH_MAX
    for path in (["a" * 255], ["a"] * 2048, ["a" * 255] * 16):
        assert ignored(patterns(pattern), "/".join(path)) == (pattern == "*" * 999)


def test_too_long_pattern_is_skipped():
    assert patterns("*" * (PATTERN_LENGTH_MAX + 1)) == []
