"""Render a lint run as SARIF 2.1.0 for GitHub's code scanning, Azure DevOps and editors (docs.oasis-open.org/sarif)."""

import json
import os
import urllib.parse
from typing import Any

from gpucheck import __version__
from gpucheck.commands.lint.pages import load_rules
from gpucheck.commands.lint.runner import Failure, Problem, Result, where
from gpucheck.commands.lint.search import absolute
from gpucheck.core.engine.manual import page_of
from gpucheck.core.reports.shared.published import documentation

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(result: Result) -> str:
    """Return one JSON object with one run. Lines of a notebook belong to a cell, so the message names the cell."""
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
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rules() -> list[dict[str, Any]]:
    """Return every rule, with or without findings: its title and page."""
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
