"""Render the result of a lint run as terminal text, JSON, SARIF, JUnit XML and GitHub Actions annotations.

A machine's reports are imported only for the formats that need them: their modules would take a third of a lint run's time.
"""

import functools
import json
import os
import urllib.parse
from typing import Any

from gpucheck import __version__
from gpucheck.commands.lint.pages import load_rules
from gpucheck.commands.lint.runner import SEARCH, Failure, Problem, Result, where
from gpucheck.commands.lint.search import absolute, repository
from gpucheck.core.reports.shared.limited_text import line
from gpucheck.core.reports.shared.published import documentation
from gpucheck.core.reports.shared.terminal_text import TerminalText, cells
from gpucheck.core.reports.shared.words import plural
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout

SCHEMA_VERSION = "1.0"
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
WIDTH = 100  # columns of a source line without a terminal
UNWRAPPED = 1_000_000  # columns without a terminal: position and message stay on one line, as compilers print them


def render(result: Result, style: str, *, color: bool = False, ascii: bool = False, width: int | None = None) -> str:
    """Return the result in a format of ``gpucheck lint --format``; the options are for a terminal; width None: no terminal."""
    if style == "terminal":
        return render_terminal(result, color=color, ascii=ascii, width=width)
    if style in ("github", "sarif"):
        result = in_repository(result)
    return {"json": render_json, "github": render_github, "sarif": render_sarif, "junit": render_junit}[style](result)


def render_terminal(result: Result, *, color: bool, ascii: bool, width: int | None) -> str:
    """Return one line for each finding, with its fix below, then a line with the counts."""
    out = TerminalText(width=width or UNWRAPPED, color=color, ascii=ascii)
    for problem in result.problems:
        style = "fail" if problem.severity == "error" else "warn"
        out.add((where(problem), "title"), ": ", (problem.code, style), f": {problem.message}", hang=4)
        _source_line(out, problem, style, width or WIDTH)
        out.add(problem.fix, indent=4, label=("do", "quiet"), hang=8)
    for failure in result.failures:
        out.add((where(failure), "title"), ": ", ("unreadable", "fail"), f": {failure.message}")
    out.add(_counts(result))
    return str(out)


def _source_line(out: TerminalText, problem: Problem, style: str, columns: int) -> None:
    """Print the source line with carets below the finding; a long line is cut to the part around it."""
    source = problem.source.replace("\t", " ")
    margin = len(str(problem.line)) + 4
    frame = columns - margin - len(" | ")
    last = problem.end_column - 1 if problem.end_line == problem.line else len(source)
    begin = problem.column - 1
    skipped = max(begin - frame // 2, 0)
    shown = source[skipped : skipped + frame]
    while cells(shown) > frame:  # wide characters take two columns
        shown = shown[:-1]
    width = max(cells(source[begin : min(last, skipped + len(shown))]), 1)
    out.verbatim((f"{problem.line:>{margin}} | ", "quiet"), shown)
    out.verbatim((f"{'':>{margin}} | ", "quiet"), " " * cells(source[skipped:begin]), ("^" * width, style))


def _counts(result: Result) -> str:
    whole = [failure for failure in result.failures if failure.cell is None]
    files = plural(result.files - len(whole), "file")
    if result.problems:
        concerned = len({problem.file for problem in result.problems})
        text = f"{plural(len(result.problems), 'finding')} in {concerned} of {files}"
    else:
        text = f"no findings in {files}" if result.files else "no .py or .ipynb file"
    fixable = sum(problem.edit is not None for problem in result.problems)
    if result.fixed:
        text += f", {result.fixed} fixed"
    elif fixable:
        text += f", {fixable} fixable with --fix"
    if whole:
        text += f", {len(whole)} unreadable"
    cells = len(result.failures) - len(whole)
    return f"{text}, {plural(cells, 'cell')} unreadable" if cells else text


def render_json(result: Result) -> str:
    """Return one JSON object; its fields are never renamed or removed within a major version."""
    data = {
        "schema_version": SCHEMA_VERSION,
        "exit_code": result.exit_code,
        "files": result.files,
        "fixed": result.fixed,
        "findings": [{**problem._asdict(), "edit": problem.edit and problem.edit._asdict()} for problem in result.problems],
        "unreadable": [failure._asdict() for failure in result.failures],
    }
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode()  # file names may contain lone surrogates


def render_sarif(result: Result) -> str:
    """Return SARIF 2.1.0 for GitHub's code scanning, Azure DevOps and editors (docs.oasis-open.org/sarif): one object, one run.

    Lines of a notebook belong to a cell, so the message identifies the cell.
    """
    driver: dict[str, Any] = {"name": "gpucheck lint", "semanticVersion": __version__, "rules": _rules()}
    address = documentation()
    if address is not None:
        driver["informationUri"] = address
    unread = [_result("error", f"{where(failure)}: {failure.message}", failure) for failure in result.failures]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not unread, "toolExecutionNotifications": unread}],
        "results": [{"ruleId": one.code, **_result(one.severity, _message(one), one)} for one in result.problems],
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rules() -> list[dict[str, Any]]:
    """Return every rule, with or without findings: its title and page."""
    from gpucheck.core.engine.manual import page_of

    return [
        {
            "id": rule.code,
            "shortDescription": {"text": (page := page_of(rule)).title},
            "fullDescription": {"text": page.sections["Cause"]},
            "help": {"text": page.sections["Fix"]},
            "helpUri": page.sections["References"].split()[0],
            "defaultConfiguration": {"level": rule.severity.value},
        }
        for rule in load_rules()
    ]


def _message(problem: Problem) -> str:
    cell = "" if problem.cell is None else f"Cell {problem.cell}, line {problem.line}: "
    return f"{cell}{problem.message} {problem.fix}"


def _result(level: str, message: str, place: Problem | Failure) -> dict[str, Any]:
    return {"level": level, "message": {"text": message}, "locations": [_location(place)]}


def _location(place: Problem | Failure) -> dict[str, Any]:
    path = os.path.normpath(place.file)
    if path.split(os.sep)[0] == os.pardir:  # a URI must not leave its base
        path = absolute(path)
    path = path.replace(os.sep, "/")
    uri = urllib.parse.quote(os.fsencode(path))
    location: dict[str, Any] = {"artifactLocation": {"uri": f"file://{uri}" if path.startswith("/") else uri}}
    if place.cell is None and place.line is not None:
        location["region"] = {"startLine": place.line, "startColumn": place.column or 1}
        if isinstance(place, Problem):
            location["region"] |= {"endLine": place.end_line, "endColumn": place.end_column, "snippet": {"text": place.source}}
    return {"physicalLocation": location}


def render_github(result: Result) -> str:
    """Return workflow commands that annotate the changed lines of a pull request."""
    lines = [_annotation(found.severity, found, found.code, f"{found.message} {found.fix}") for found in result.problems]
    lines += [_annotation("error", failure, "unreadable", failure.message) for failure in result.failures]
    return "".join(lines)


def _annotation(severity: str, place: Problem | Failure, title: str, message: str) -> str:
    from gpucheck.core.reports.github import command

    properties = {"file": os.path.normpath(place.file).replace(os.sep, "/")}  # GitHub's paths have no "./"
    if place.cell is not None:  # a line of a cell is not a line of the file
        title = f"{title} (cell {place.cell}, line {place.line})"
    elif place.line is not None:
        properties |= {"line": str(place.line), "col": str(place.column or 1)}
        if isinstance(place, Problem):
            properties["endLine"] = str(place.end_line)
    return command(severity, message, **properties, title=title)


def render_junit(result: Result) -> str:
    """Return JUnit XML: findings are failures, unreadable files are errors; without either, one test case passes."""
    from gpucheck.core.reports import junit

    cases = []
    for found in result.problems:
        text = "\n".join(map(line, (where(found), found.source, found.fix)))
        problem = junit.Problem("failure", found.code, found.message, text)
        cases.append(junit.Case(found.file, f"{found.code} at {where(found)}", problem, seconds=None))
    for failure in result.failures:
        problem = junit.Problem("error", "unreadable", failure.message, where(failure))
        cases.append(junit.Case(failure.file, f"unreadable at {where(failure)}", problem, seconds=None))
    name = "gpucheck.lint"
    return junit.document(name, [junit.Suite(name, cases or [junit.Case(name, f"{result.files} files", seconds=None)])])


def in_repository(result: Result) -> Result:
    """Return the result with paths relative to the checkout of a GitHub Actions job or, outside it, to the file's repository.

    A file in neither keeps its path. If a file system does not respond, all files do.
    """
    files = {problem.file for problem in result.problems} | {failure.file for failure in result.failures}
    try:
        names = with_timeout(FILE_SECONDS, _names, files, os.environ.get("GITHUB_WORKSPACE"))
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
        root = root_of(os.path.dirname(path))
        found[file] = name or (root and _below(path, root)) or file
    return found


def _resolved(path: str) -> str:
    """Return the path with links to folders resolved. A file that is a link has its own name in the repository."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _below(path: str, folder: str) -> str | None:
    """Return the path relative to a folder, both absolute; None if it is not in the folder."""
    prefix = os.path.join(folder, "")
    return path[len(prefix) :] if os.path.normcase(path).startswith(os.path.normcase(prefix)) else None
