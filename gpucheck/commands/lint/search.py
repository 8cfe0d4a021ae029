"""Find the files to lint: files given as arguments, and programs in folders that are not ignored or third-party."""

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from gpucheck.commands.lint.gitignore import Pattern, patterns
from gpucheck.core.system.ownership import why_untrusted

GITIGNORE_BYTES_MAX = 1 << 20
SKIPPED = {"__pycache__", "node_modules", "site-packages", "dist-packages", "venv"}
Rules = tuple[tuple[int, Pattern], ...]  # lines of .gitignore files, highest precedence first, each with its folder's depth


def files(paths: Iterable[str], say: Callable[[str], None] = lambda line: None) -> Iterator[str]:
    """Yield the files among the paths, and every .py and .ipynb in the folders that is not third-party, hidden or ignored.

    Args:
        paths: files and folders.
        say: called with one line for each .gitignore that is not used, because another user may have written it.
    """
    yielded: set[str] = set()
    for path in paths:
        for file in _Walk(path, say).files() if os.path.isdir(path) else (path,):
            key = os.path.normcase(absolute(file))
            if key not in yielded:
                yielded.add(key)
                yield file


def absolute(path: str) -> str:
    """Return the absolute path; unchanged if the current folder was removed."""
    try:
        return os.path.abspath(path)
    except OSError:  # the current folder was removed
        return path


def repository(folder: str) -> str | None:
    """Return the root of the git repository that contains an absolute folder; None outside repositories."""
    while not os.path.exists(os.path.join(folder, ".git")):
        folder, below = os.path.dirname(folder), folder
        if folder == below:
            return None
    return folder


class _Walk:
    """The programs in one folder."""

    def __init__(self, top: str, say: Callable[[str], None]) -> None:
        self._top, self._say = top, say
        # The .gitignore of a folder's owner is trusted: the owner's programs can also suppress findings.
        self._owner = os.stat(top).st_uid

    def files(self) -> Iterator[str]:
        """Yield the programs, without recursion: a tree may be deeper than Python's stack."""
        refused: list[str] = []
        folders = [(self._top, *self._above())]
        while folders:
            place, names, rules = folders.pop()
            try:
                with os.scandir(place) as scan:
                    entries = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in scan)
            except OSError:
                refused.append(place)
                continue
            rules = self._with_own(place, names, rules)
            below = []
            for name, is_folder in entries:
                path, inside = os.path.join(place, name), (*names, name)
                if name.startswith("."):
                    continue
                if is_folder:
                    environment = name in SKIPPED or os.path.exists(os.path.join(path, "pyvenv.cfg"))
                    if not environment and not _ignored(rules, inside, folder=True):
                        below.append((path, inside, rules))
                elif name.endswith((".py", ".ipynb")) and not _ignored(rules, inside, folder=False):
                    yield path
            folders += reversed(below)
        yield from refused  # linting them reports the reason

    def _above(self) -> tuple[tuple[str, ...], Rules]:
        """Return the names from the repository's root to the folder, and the rules there; no rules if they ignore the folder.

        A user who passes an ignored folder wants it linted, so the rules above it do not apply to its content.
        """
        top = absolute(self._top)
        root = place = repository(top) or top
        names: tuple[str, ...] = ()
        rules: Rules = ()
        for name in os.path.relpath(top, root).split(os.sep) if top != root else ():
            rules = self._with_own(place, names, rules)
            place, names = os.path.join(place, name), (*names, name)
            if _ignored(rules, names, folder=True):
                return (), ()
        return names, rules

    def _with_own(self, folder: str, names: Sequence[str], rules: Rules) -> Rules:
        """Return the rules in a folder: its .gitignore, and the rules above unless the folder is a repository."""
        if os.path.exists(os.path.join(folder, ".git")):
            rules = ()
        path = os.path.join(folder, ".gitignore")
        with contextlib.suppress(OSError):
            if not os.path.isfile(path):  # reading a pipe would block
                return rules
            if reason := why_untrusted(path, self._owner):
                self._say(f"ignored {path}: {reason}")
                return rules
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                return (*((len(names), pattern) for pattern in patterns(file.read(GITIGNORE_BYTES_MAX))), *rules)
        return rules


def _ignored(rules: Rules, names: Sequence[str], *, folder: bool) -> bool:
    matches = (pattern.ignores for depth, pattern in rules if pattern.matches(names[depth:], folder=folder))
    return next(matches, False)
