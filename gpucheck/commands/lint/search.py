"""Which files are linted: those that are named, and in folders the programs that are neither somebody else's nor ignored."""

import os
from collections.abc import Iterable, Iterator

import pathspec

LARGEST_BYTES = 1 << 20  # of a .gitignore
SUFFIXES = (".py", ".ipynb")
SKIPPED = {"__pycache__", "node_modules", "site-packages", "dist-packages", "venv"}


class Ignored:
    """What git ignores: the .gitignore of the repository's root and of each folder below, each read once; the nearest decides."""

    def __init__(self, root: str | None = None) -> None:
        """Nothing is read yet; ``root`` is the folder to begin at, None: that of the repository."""
        self._patterns: dict[str, pathspec.GitIgnoreSpec | None] = {}
        self._roots: dict[str, bool] = {} if root is None else {os.path.abspath(root): True}

    def __call__(self, path: str, *, folder: bool) -> bool:
        """Whether git ignores a file, or a folder; what a folder holds that it ignores is not asked for."""
        path = os.path.abspath(path)
        above, ignored = os.path.dirname(path), False
        for place in self._from_root(above):
            patterns = self._read(place)
            if patterns is not None:
                name = os.path.relpath(path, place).replace(os.sep, "/") + "/" * folder
                said = patterns.check_file(name).include
                ignored = ignored if said is None else said
        return ignored

    def _from_root(self, folder: str) -> list[str]:
        """The folders from the repository's root, or the file system's where there is none, down to this one."""
        places = [folder]
        while not self._is_root(places[-1]) and (above := os.path.dirname(places[-1])) != places[-1]:
            places.append(above)
        return places[::-1] if self._is_root(places[-1]) else [folder]

    def _is_root(self, folder: str) -> bool:
        if folder not in self._roots:
            self._roots[folder] = os.path.exists(os.path.join(folder, ".git"))
        return self._roots[folder]

    def _read(self, folder: str) -> pathspec.GitIgnoreSpec | None:
        if folder not in self._patterns:
            path = os.path.join(folder, ".gitignore")
            try:
                if not os.path.isfile(path):  # a pipe would be waited for
                    raise FileNotFoundError
                with open(path, encoding="utf-8", errors="replace") as file:
                    self._patterns[folder] = pathspec.GitIgnoreSpec.from_lines(file.read(LARGEST_BYTES).splitlines())
            except (OSError, ValueError):  # ValueError: a pattern that git would not take either
                self._patterns[folder] = None
        return self._patterns[folder]


def files(paths: Iterable[str]) -> Iterator[str]:
    """The files that are meant: those named, and in folders every .py and .ipynb not somebody else's, hidden or ignored."""
    yielded: set[str] = set()
    for path in paths:
        for file in _walk(path) if os.path.isdir(path) else (path,):
            key = _key(file)
            if key not in yielded:
                yielded.add(key)
                yield file


def _key(file: str) -> str:
    try:
        return os.path.normcase(os.path.abspath(file))
    except OSError:  # the current folder was removed
        return file


def _walk(folder: str) -> Iterator[str]:
    refused: list[str] = []
    ignored = Ignored()
    if ignored(folder, folder=True):  # who names it wants it: what is above says nothing of what it holds
        ignored = Ignored(folder)
    for place, folders, names in os.walk(folder, onerror=lambda error: refused.append(error.filename)):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in SKIPPED and not _left_out(os.path.join(place, name), ignored)
        )
        for name in sorted(names):
            path = os.path.join(place, name)
            if name.endswith(SUFFIXES) and not name.startswith(".") and not ignored(path, folder=False):
                yield path
    yield from refused  # reading them says why


def _left_out(folder: str, ignored: Ignored) -> bool:
    return os.path.exists(os.path.join(folder, "pyvenv.cfg")) or ignored(folder, folder=True)
