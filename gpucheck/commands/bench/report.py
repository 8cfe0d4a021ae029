"""Render a benchmark as text, JSON, CSV and HTML."""

import html
from typing import Any

import msgspec

from gpucheck.commands.bench import wording
from gpucheck.commands.bench.figures import READINGS, one_global_batch
from gpucheck.commands.bench.model import Measurement, Result, Spread
from gpucheck.core.child.messages.benchmark import Traced
from gpucheck.core.reports import json
from gpucheck.core.reports.shared.document import document
from gpucheck.core.reports.shared.terminal_text import TerminalText
from gpucheck.core.reports.shared.words import clean, plural

SPREADS = ("median", "minimum", "maximum")
COLUMN = 14
GAP = 3  # blanks between the columns of the table


def render(result: Result, style: str, *, width: int, color: bool, ascii: bool) -> str:
    """Render the result in one of the model's ``FORMATS``; width, color and ascii are for the terminal."""
    if style == "json":
        return json.render(result)
    if style == "html":
        return render_html(result)
    return render_csv(result) if style == "csv" else render_terminal(result, width=width, color=color, ascii=ascii)


def render_csv(result: Result) -> str:
    """Render a line per configuration (RFC 4180); a figure with spread has three columns."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text)
    empty = Measurement(strategy="", devices=(), precision="", xla=False, batch_size=0, status="")
    writer.writerow([name for name, _ in _cells(empty)])
    for measurement in result.measurements:
        writer.writerow([value for _, value in _cells(measurement)])
    return text.getvalue()


def _cells(measurement: Measurement) -> list[tuple[str, Any]]:
    cells: list[tuple[str, Any]] = []
    for field in msgspec.structs.fields(measurement):
        name, value = field.name, getattr(measurement, field.name)
        if field.type == Spread | None:
            cells += [(f"{name}_{end}", None if value is None else getattr(value, end)) for end in SPREADS]
        elif name == "gpus":
            for load in READINGS:
                cells.append((load, _joined("" if getattr(gpu, load) is None else getattr(gpu, load) for gpu in value)))
            for load in ("clock_event_reasons", "slowed_by"):
                cells.append((load, _joined(dict.fromkeys(reason for gpu in value for reason in getattr(gpu, load)))))
        elif name == "traced":
            cells += [(f"traced_{part}", None if value is None else getattr(value, part)) for part in Traced.__struct_fields__]
        else:
            cells.append((name, _joined(value) if isinstance(value, tuple) else value))
    return cells


def _joined(values: Any) -> str:
    return " ".join(map(str, values))


def render_terminal(result: Result, *, width: int, color: bool, ascii: bool) -> str:
    """Render text: a paragraph per configuration, a table by speed, then notes and advice."""
    out = TerminalText(width=width, color=color, ascii=ascii)
    out.add(("gpucheck bench", "title"), f"  {wording.machine(result)}", hang=2)
    out.add((wording.method(result), "quiet"), hang=2)
    in_all = one_global_batch(result.measurements)
    for measurement in result.measurements:
        out.blank()
        out.add((wording.title(measurement, in_all), "title"), hang=2)
        if measurement.status != "measured":
            style = "fail" if measurement.status == "failed" else "warn"
            out.add((measurement.status.replace("-", " "), style), f": {measurement.reason}", indent=2, hang=4)
            continue
        for label, words in wording.figures(measurement):
            out.add(words, indent=2, label=(label, "quiet"), hang=COLUMN + 2)
    if len(order := wording.ranked(result.measurements)) > 1:
        _add_table(out, order)
    notes = [*result.notes, *wording.missed_target(result), *wording.advice(result.measurements)]
    if early := wording.ended_early(result):
        out.blank()
        out.add((result.ended, "fail"), early.removeprefix(result.ended), hang=2)
    if notes:
        out.blank()
    for note in notes:
        out.add(note, indent=0, label="·", hang=2)
    return str(out)


def _add_table(out: TerminalText, order: list[tuple[Measurement, float, bool]]) -> None:
    """Add a row per configuration with the settings that differ, or a paragraph each if a row is too wide."""
    different = wording.varying([measurement for measurement, _, _ in order])
    unit = different[0].get("batch", "").partition(" ")[2]  # printed once above the table, which is narrower without it
    rows = [("ratio", "samples/s", *different[0], "")]
    for (measurement, ratio, noise), names in zip(order, different, strict=True):
        speed = wording.spread(measurement.samples_per_second) if measurement.samples_per_second else ""
        rows.append((f"{ratio:.2f}", speed, *names.values(), "within noise" if noise and len(rows) > 1 else ""))
    short = [tuple(cell.removesuffix(f" {unit}") if unit else cell for cell in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*short, strict=True)]
    fits = 2 + sum(widths) + GAP * (len(widths) - 1) <= out.width
    out.blank()
    out.add(("fastest first", "title"), f" (batch {unit})" if unit and fits else "")
    if fits:
        for row, style in zip(short, ("quiet", *[""] * len(order)), strict=True):
            out.verbatim("  ", ((" " * GAP).join(map(str.ljust, row, widths)).rstrip(), style))
        return
    for ratio_words, speed, *values, noise_words in rows[1:]:
        named = [value if name == "strategy" else f"{name} {value}" for name, value in zip(different[0], values, strict=True)]
        words = ", ".join(filter(None, (f"{speed} samples/s", noise_words, *named)))
        out.add(words, indent=2, label=(ratio_words, "quiet"), hang=8)


def render_html(result: Result) -> str:
    """Render a self-contained page. Text from the machine is escaped, without control characters."""
    order, early = wording.ranked(result.measurements), wording.ended_early(result)
    in_all = one_global_batch(result.measurements)
    heading = early[:1].upper() + early[1:] or _fastest(order, in_all)
    notes = [*result.notes, *wording.missed_target(result), *wording.advice(result.measurements)]
    missed = len(result.measurements) - len(order)
    if missed and order and not early:
        heading += f"; {missed} of {plural(len(result.measurements), 'configuration')} not measured"
    below = "".join(f'<p class="quiet">{_text(text)}</p>' for text in (wording.machine(result), wording.method(result)))
    items = "".join(f"<li>{_text(note)}</li>" for note in notes)
    body = (f"<ul>{items}</ul>" if items else "") + (_html_table(order) if len(order) > 1 else "")
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


def _html_table(order: list[tuple[Measurement, float, bool]]) -> str:
    """Return a row per configuration with the settings that differ, and a bar for its speed."""
    different = wording.varying([each for each, _, _ in order])
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
