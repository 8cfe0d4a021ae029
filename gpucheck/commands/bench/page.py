"""Render a benchmark as a self-contained HTML page: advice, a table by speed, and the figures of each configuration."""

import html

from gpucheck.commands.bench import wording
from gpucheck.commands.bench.figures import one_global_batch
from gpucheck.commands.bench.model import Measurement, Result
from gpucheck.commands.bench.wording import advice, ranked, varying
from gpucheck.core.reports.shared.document import document
from gpucheck.core.reports.shared.words import clean, plural


def render(result: Result) -> str:
    """Render an HTML document. Text from the machine is escaped, without control characters."""
    order, early = ranked(result.measurements), wording.ended_early(result)
    in_all = one_global_batch(result.measurements)
    heading = early[:1].upper() + early[1:] or _fastest(order, in_all)
    notes = [*result.notes, *wording.missed_target(result), *advice(result.measurements)]
    missed = len(result.measurements) - len(order)
    if missed and order and not early:
        heading += f"; {missed} of {plural(len(result.measurements), 'configuration')} not measured"
    below = "".join(f'<p class="quiet">{_text(text)}</p>' for text in (wording.machine(result), wording.method(result)))
    items = "".join(f"<li>{_text(note)}</li>" for note in notes)
    body = (f"<ul>{items}</ul>" if items else "") + (_table(order) if len(order) > 1 else "")
    if result.measurements:
        body += "<h2>Configurations</h2>" + "".join(_card(each, in_all) for each in result.measurements)
    footer = f'<p class="quiet">gpucheck {_text(result.tool.get("version", ""))} · {_text(result.started_at)}</p>'
    return document("gpucheck: benchmark", clean(heading), body + footer, below)


def _fastest(order: list[tuple[Measurement, float, bool]], in_all: bool) -> str:
    """Return the speed and settings of the fastest configuration."""
    first = order[0][0] if order else None
    if first is None or first.samples_per_second is None:
        return "Nothing was measured"
    fastest = "Fastest: " if len(order) > 1 else ""
    return f"{fastest}{wording.spread(first.samples_per_second)} samples/s, {wording.title(first, in_all)}"


def _table(order: list[tuple[Measurement, float, bool]]) -> str:
    """Return a row per configuration with the settings that differ, and a bar for its speed."""
    different = varying([each for each, _, _ in order])
    heads = [*different[0], "samples/s", "ratio"]
    rows: list[str] = []
    for (each, ratio, noise), names in zip(order, different, strict=True):
        speed = wording.spread(each.samples_per_second) if each.samples_per_second else ""
        bar = f'<span class="bar"><i style="width:{100 * ratio:.0f}%"></i></span>'
        remark = ", within noise" if noise and rows else ""
        first, *rest = names.items()
        name = first[1] if first[0] == "strategy" else " ".join(first)
        cells = [f'<th scope="row">{_text(name)}</th>', *(_cell(*pair) for pair in rest)]
        cells += [f'<td data-name="samples/s">{_text(speed)}{bar}</td>', _cell("ratio", f"{ratio:.2f}{remark}")]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in heads)
    table = f'<table class="stacked"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return f'<h2>Fastest first</h2><div class="scroll" tabindex="0" role="group" aria-label="table: configurations">{table}</div>'


def _cell(name: str, value: str) -> str:
    return f'<td data-name="{_text(name)}">{_text(value)}</td>'


def _card(measurement: Measurement, in_all: bool) -> str:
    """Return the settings and figures of a configuration, or why it was not measured."""
    title = f"<h3>{_text(wording.title(measurement, in_all))}</h3>"
    if measurement.status != "measured":
        kind = "fail" if measurement.status == "failed" else "warn"
        words = f"{measurement.status.replace('-', ' ')}: {measurement.reason}"
        return f'<article class="card {kind}">{title}<p>{_text(words)}</p></article>'
    facts = "".join(
        f'<div><dt class="path">{_text(name)}</dt><dd class="value">{_text(value)}</dd></div>'
        for name, value in wording.figures(measurement)
    )
    return f'<article class="card pass">{title}<dl class="facts">{facts}</dl></article>'


def _text(value: str) -> str:
    return html.escape(clean(value))
