"""What came of a lint run as text for a terminal, as JSON, and as annotations of GitHub Actions."""

import json
import os

from gpucheck.lint.runner import Failure, Problem, Result
from gpucheck.reports.github import command
from gpucheck.reports.shared.terminal_text import TerminalText
from gpucheck.reports.shared.words import plural

SCHEMA_VERSION = "1.0"
UNWRAPPED = 1_000_000  # cells: a position stands on one line with what is said of it, as compilers write it


def render(result: Result, style: str, *, color: bool = False, ascii: bool = False) -> str:
    """The result in a style: "terminal" (to which colour and character set apply), "json" or "github"."""
    if style == "json":
        return render_json(result)
    return render_github(result) if style == "github" else render_terminal(result, color=color, ascii=ascii)


def render_terminal(result: Result, *, color: bool, ascii: bool) -> str:
    """One line for each finding, what to do below it; the last line counts."""
    out = TerminalText(width=UNWRAPPED, color=color, ascii=ascii)
    for problem in result.problems:
        style = "fail" if problem.severity == "error" else "warn"
        out.add((position(problem), "title"), ": ", (problem.code, style), f": {problem.message}")
        out.add(problem.fix, indent=4, label=("do", "quiet"), hang=8)
    for failure in result.failures:
        out.add((position(failure), "title"), ": ", ("unreadable", "fail"), f": {failure.message}")
    out.add(_count(result))
    return str(out)


def position(place: Problem | Failure) -> str:
    """``train.py:12:5``; in a notebook ``train.ipynb:cell 3:12:5``."""
    words = [place.file, *([f"cell {place.cell}"] if place.cell is not None else [])]
    return ":".join([*words, *(str(number) for number in (place.line, place.column) if number is not None)])


def _count(result: Result) -> str:
    whole = [failure for failure in result.failures if failure.cell is None]
    files = plural(result.files - len(whole), "file")
    if result.problems:
        concerned = len({problem.file for problem in result.problems})
        text = f"{plural(len(result.problems), 'finding')} in {concerned} of {files}"
    else:
        text = f"no findings in {files}" if result.files else "no .py or .ipynb file"
    if whole:
        text += f", {len(whole)} not readable"
    cells = len(result.failures) - len(whole)
    return f"{text}, {plural(cells, 'cell')} not readable" if cells else text


def render_json(result: Result) -> str:
    """One JSON object; its fields are never renamed or removed within a major version."""
    return (
        json.dumps(
            {
                "schema_version": SCHEMA_VERSION,
                "exit_code": result.exit_code,
                "files": result.files,
                "findings": [problem._asdict() for problem in result.problems],
                "unreadable": [failure._asdict() for failure in result.failures],
            },
            indent=2,
            ensure_ascii=False,
        )
        .encode("utf-8", "backslashreplace")  # a file name need not be valid text
        .decode()
        + "\n"
    )


def render_github(result: Result) -> str:
    """Workflow commands that annotate the changed lines of a pull request."""
    lines = [
        _annotation(problem.severity, problem, problem.code, f"{problem.message} {problem.fix}") for problem in result.problems
    ]
    lines += [_annotation("error", failure, "unreadable", failure.message) for failure in result.failures]
    return "".join(lines)


def _annotation(severity: str, place: Problem | Failure, title: str, message: str) -> str:
    properties = {"file": os.path.normpath(place.file).replace(os.sep, "/")}  # as the repository names it: without "./"
    if place.cell is not None:  # lines of a cell are not lines of the file
        title = f"{title} (cell {place.cell}, line {place.line})"
    elif place.line is not None:
        properties |= {"line": str(place.line), "col": str(place.column or 1)}
        if isinstance(place, Problem):
            properties["endLine"] = str(place.end_line)
    return command(severity, message, **properties, title=title)
