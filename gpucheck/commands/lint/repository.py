"""Paths relative to the repository, which GitHub needs to find a file; other formats keep those of the current folder."""

import functools
import os

from gpucheck.commands.lint.runner import SEARCH, Result
from gpucheck.commands.lint.search import absolute, repository
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout

WORKSPACE = "GITHUB_WORKSPACE"  # the folder of the checkout in a job of GitHub Actions


def in_repository(result: Result) -> Result:
    """Return the result with paths relative to the workspace or, outside it, to the file's repository.

    A file in neither keeps its path, and so do all files if a file system does not respond.
    """
    files = {problem.file for problem in result.problems} | {failure.file for failure in result.failures}
    try:
        names = with_timeout(FILE_SECONDS, _names, files, os.environ.get(WORKSPACE))
    except (NoResponse, OSError):
        return result
    return result._replace(
        problems=tuple(problem._replace(file=names[problem.file]) for problem in result.problems),
        failures=tuple(failure._replace(file=names[failure.file]) for failure in result.failures),
    )


def _names(files: set[str], workspace: str | None) -> dict[str, str]:
    found = {"-": "-", SEARCH: SEARCH}
    root_of = functools.cache(repository)
    for file in files - found.keys():
        path = absolute(file)
        name = _below(path, absolute(workspace)) or _below(_resolved(path), os.path.realpath(workspace)) if workspace else None
        if name is None:
            root = root_of(os.path.dirname(path))
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
