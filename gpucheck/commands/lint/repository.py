"""Paths relative to the repository, which GitHub needs to find a file; other formats keep those of the current folder."""

import os
from collections.abc import Iterable
from typing import TypeVar

from gpucheck.commands.lint.runner import SEARCH, Failure, Problem, Result
from gpucheck.commands.lint.search import absolute, repository
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout

WORKSPACE = "GITHUB_WORKSPACE"  # the folder of the checkout in a job of GitHub Actions
_Place = TypeVar("_Place", Problem, Failure)


def in_repository(result: Result) -> Result:
    """Return the result with paths relative to the workspace or, outside it, to the file's repository.

    A file in neither keeps its path, and so do all files if a file system does not respond.
    """
    files = {problem.file for problem in result.problems} | {failure.file for failure in result.failures}
    try:
        names = with_timeout(FILE_SECONDS, _names, files - {"-", SEARCH}, os.environ.get(WORKSPACE))
    except (NoResponse, OSError):
        return result
    return result._replace(
        problems=tuple(_renamed(problem, names) for problem in result.problems),
        failures=tuple(_renamed(failure, names) for failure in result.failures),
    )


def _renamed(place: _Place, names: dict[str, str]) -> _Place:
    return place._replace(file=names.get(place.file, place.file))


def _names(files: Iterable[str], workspace: str | None) -> dict[str, str]:
    found = {}
    roots: dict[str, str | None] = {}
    for file in files:
        path = absolute(file)
        name = _below(path, absolute(workspace)) or _below(_resolved(path), os.path.realpath(workspace)) if workspace else None
        if name is None:
            folder = os.path.dirname(path)
            if folder not in roots:
                roots[folder] = repository(folder)
            root = roots[folder]
            name = None if root is None else _below(path, root)
        found[file] = name or file
    return found


def _resolved(path: str) -> str:
    """Return the path without links to folders. A file that is a link is in the repository under its own name."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _below(path: str, folder: str) -> str | None:
    """Return the path relative to a folder, both absolute; None if it is not in the folder."""
    prefix = os.path.join(folder, "")
    return path[len(prefix) :] if os.path.normcase(path).startswith(os.path.normcase(prefix)) else None
