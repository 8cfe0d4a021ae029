"""What came of a lint run as text for a terminal, as JSON, as annotations of GitHub Actions; other formats have own files."""

import json
import os

from gpucheck.lint import junit, sarif
from gpucheck.lint.runner import Failure, Problem, Result
from gpucheck.reports.github import command
from gpucheck.reports.shared.terminal_text import TerminalText, cells
from gpucheck.reports.shared.words import plural

SCHEMA_VERSION = "1.0"
FRAME = 100  # characters of a line that are shown
UNWRAPPED = 1_000_000  # cells: a position stands on one line with what is said of it, as compilers write it


def render(result: Result, style: str, *, color: bool = False, ascii: bool = False) -> str:
    """The result in a style of ``gpucheck lint --format``; colour and character set apply to a terminal."""
    if style == "terminal":
        return render_terminal(result, color=color, ascii=ascii)
    return {"json": render_json, "github": render_github, "sarif": sarif.render, "junit": junit.render}[style](result)


def render_terminal(result: Result, *, color: bool, ascii: bool) -> str:
    """One line for each finding, what to do below it; the last line counts."""
    out = TerminalText(width=UNWRAPPED, color=color, ascii=ascii)
    for problem in result.problems:
        style = "fail" if problem.severity == "error" else "warn"
        out.add((problem.where, "title"), ": ", (problem.code, style), f": {problem.message}")
        _frame(out, problem, style)
        out.add(problem.fix, indent=4, label=("do", "quiet"), hang=8)
    for failure in result.failures:
        out.add((failure.where, "title"), ": ", ("unreadable", "fail"), f": {failure.message}")
    out.add(_count(result))
    return str(out)


def _frame(out: TerminalText, problem: Problem, style: str) -> None:
    """The line itself, and carets below what is meant; of a very long line what stands around it."""
    source = problem.source.replace("\t", " ")
    last = problem.end_column - 1 if problem.end_line == problem.line else len(source)
    begin, skipped = problem.column - 1, max(problem.column - 1 - FRAME // 2, 0)
    shown = source[skipped : skipped + FRAME]
    width = max(cells(source[begin : min(last, skipped + FRAME)]), 1)
    room = len(str(problem.line))
    out.verbatim((f"{problem.line:>{room + 4}} | ", "quiet"), shown)
    out.verbatim((f"{'':>{room + 4}} | ", "quiet"), " " * cells(source[skipped:begin]), ("^" * width, style))


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
