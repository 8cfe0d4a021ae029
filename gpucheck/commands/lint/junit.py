"""A lint run as JUnit XML: each finding fails, an error is what can't be read; one that passes if nothing is wrong."""

from gpucheck.commands.lint.runner import Failure, Problem, Result
from gpucheck.core.reports.shared import junit


def render(result: Result) -> str:
    """An XML document. Characters that XML forbids are dropped."""
    cases = [*map(_finding, result.problems), *map(_unreadable, result.failures)]
    name = "gpucheck.lint"
    return junit.document(name, [junit.Suite(name, cases or [junit.Case(name, f"{result.files} files", seconds=None)])])


def _finding(found: Problem) -> junit.Case:
    problem = junit.Problem("failure", found.code, found.message, "\n".join([found.where, found.source, found.fix]))
    return junit.Case(found.file, f"{found.code} at {found.where}", problem, seconds=None)


def _unreadable(failure: Failure) -> junit.Case:
    problem = junit.Problem("error", "unreadable", failure.message, failure.where)
    return junit.Case(failure.file, f"unreadable at {failure.where}", problem, seconds=None)
