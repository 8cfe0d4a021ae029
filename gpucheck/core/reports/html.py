"""The report as one self-contained HTML file, without network or server: findings, evidence, training, all facts.

Needs jinja2. The templates are in this folder.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import jinja2
import msgspec

from gpucheck.core.model import Fact, Report
from gpucheck.core.model.naming import devices
from gpucheck.core.reports.redaction import notice
from gpucheck.core.reports.redaction.words import ALIAS
from gpucheck.core.reports.shared import experiments, hardware_paths
from gpucheck.core.reports.shared.areas import areas
from gpucheck.core.reports.shared.evidence import evidence
from gpucheck.core.reports.shared.findings import followers, gaps, muted, roots, ruled_out, unchecked
from gpucheck.core.reports.shared.headline import headline
from gpucheck.core.reports.shared.limited_text import plain
from gpucheck.core.reports.shared.machine import versions
from gpucheck.core.reports.shared.training import concurrency_note, row, shares, why_not
from gpucheck.core.reports.shared.words import duration, spelled

MOST_FACTS = 20_000  # rows; a browser searches these at once


class Row(NamedTuple):
    """One value of a fact: its path in the fact, and the value as JSON."""

    path: str
    value: str


def render(report: Report) -> str:
    """Render an HTML document. Text from the machine is escaped, without control characters."""
    page = jinja2.Environment(
        loader=jinja2.PackageLoader("gpucheck.core.reports", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: plain(value) if type(value) is str else value,
    ).get_template("report.html.jinja")
    cited = {item.fact for finding in report.findings for item in finding.evidence}
    text: str = page.render(
        report=report,
        versions=versions(report),
        headline=headline(report),
        roots=[(root, followers(report, root)) for root in roots(report)],
        muted=muted(report),
        saw=lambda item: evidence(item, report, verbose=True),
        areas=areas(report),
        runs=[
            (run, row(run), share, "" if run.status == "passed" else why_not(run))
            for run, share in zip(report.training, shares(report.training), strict=True)
        ],
        beside=concurrency_note(report.training),
        experiments=[
            (made, spelled(made.name), devices(made.devices) or "–", experiments.figures(made)) for made in report.experiments
        ],
        conclusion=experiments.conclusion(report),
        paths=hardware_paths.paths(report),
        not_measured=hardware_paths.NOT_MEASURED,
        facts=_facts(report.facts),
        cited=cited,
        unchecked=unchecked(report),
        gaps=", ".join(gaps(report)),
        clear=ruled_out(report),
        seconds=duration,
        is_aliased=ALIAS.search,
        notice=(notice(report) or "").split("`"),
    )
    return text


def _facts(facts: dict[str, Fact]) -> dict[str, list[Row]]:
    """Return every value of every fact, with its path as in evidence."""
    return {
        probe: [Row(path.removeprefix("."), value) for path, value in _flat(msgspec.to_builtins(fact))][:MOST_FACTS]
        for probe, fact in sorted(facts.items())
    }


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from _flat(entry, f"{path}.{key}")
    elif isinstance(value, (list, tuple)) and any(isinstance(entry, (dict, list, tuple)) for entry in value):
        for place, entry in enumerate(value):
            yield from _flat(entry, f"{path}[{place}]")
    elif isinstance(value, str):
        yield path, value or '""'
    elif isinstance(value, (list, tuple)):
        yield path, ", ".join("unknown" if entry is None else str(entry) for entry in value) or "none"
    else:
        yield path, "unknown" if value is None else json.dumps(value)
