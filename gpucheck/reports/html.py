"""The report as one HTML file that needs nothing else: no network, no server. Findings, evidence, training charts, all facts.

Needs jinja2. The template lies beside this file.
"""

import json
import pkgutil
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import jinja2

from gpucheck.model import Report, Status, TrainingRun
from gpucheck.model.naming import devices
from gpucheck.reports import _charts, _decision, _experiments
from gpucheck.reports._areas import areas
from gpucheck.reports._headline import followers, gaps, headline, muted, roots, unchecked
from gpucheck.reports._text import plain
from gpucheck.reports._training import beside
from gpucheck.reports._words import duration, evidence, significant, size, strategy

TEMPLATE = "report.html.jinja"
MOST_FACTS = 20_000  # rows; a browser searches these at once


class Row(NamedTuple):
    """One value of a fact: its path inside the fact and the value in JSON's words."""

    path: str
    value: str


def render(report: Report) -> str:
    """A whole HTML document. What a machine says about itself is escaped, its control characters dropped."""
    source = pkgutil.get_data("gpucheck.reports", TEMPLATE)
    assert source is not None  # noqa: S101 - package data
    page = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_final
    ).from_string(source.decode("utf-8"))
    charts, reason = _charts.draw(report)
    cited = {item.fact for finding in report.findings for item in finding.evidence}
    text: str = page.render(
        report=report,
        headline=headline(report),
        roots=[(root, followers(report, root)) for root in roots(report)],
        muted=muted(report),
        saw=lambda item: evidence(item, report.facts, verbose=True),
        areas=areas(report),
        runs=[_run(run) for run in report.training],
        beside=beside(report.training),
        charts=[chart._replace(svg=_Safe(plain(chart.svg))) for chart in charts],
        no_charts=reason,
        experiments=[
            {"name": _experiments.name(one), "on": devices(one.devices) or "–", "figures": _experiments.figures(one), "made": one}
            for one in report.experiments
        ],
        paths=_decision.paths(report),
        not_measured=_decision.NOT_MEASURED,
        facts=_facts(report.facts),
        cited=cited,
        unchecked=unchecked(report),
        gaps=", ".join(gaps(report)),
        clear=[outcome.code for outcome in report.outcomes if outcome.status is Status.CLEAR],
        seconds=duration,
    )
    return text


class _Safe(str):
    """Text that is markup already: ours, and cleaned."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def _final(value: Any) -> Any:
    return plain(value) if type(value) is str else value


def _run(run: TrainingRun) -> dict[str, str]:
    return {
        "strategy": strategy(run),
        "devices": devices(run.devices) or "–",
        "precision": f"{run.precision} XLA" if run.compiled else run.precision,
        "rate": _number(run.samples_per_second),
        "step": "–" if run.step_seconds is None else f"{significant(run.step_seconds * 1000)} ms",
        "first": "–" if run.first_step_seconds is None else duration(run.first_step_seconds),
        "memory": "–" if run.peak_memory_bytes is None else size(run.peak_memory_bytes),
        "loss": "–" if run.loss.first is run.loss.last is None else f"{_number(run.loss.first)} → {_number(run.loss.last)}",
        "status": run.status,
        "reason": ""
        if run.status == "passed"
        else (f"at {run.stage}: " if run.stage else "") + (run.reason or "no reason given"),
    }


def _number(value: float | None) -> str:
    return "–" if value is None else significant(value)


def _facts(facts: dict[str, Any]) -> dict[str, list[Row]]:
    """Every value of every fact by its path, as evidence names it."""
    rows = {probe: [Row(re.sub(r"^\.", "", path), value) for path, value in _flat(fact)] for probe, fact in sorted(facts.items())}
    return {probe: entries[:MOST_FACTS] for probe, entries in rows.items()}


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
