"""Render a benchmark as text, JSON, CSV and HTML."""

from typing import Any

from gpucheck.commands.bench import page, wording
from gpucheck.commands.bench.figures import READINGS, one_global_batch
from gpucheck.commands.bench.model import Measurement, Result
from gpucheck.commands.bench.wording import advice, ranked, varying
from gpucheck.core.child.messages.benchmark import Traced
from gpucheck.core.reports import json
from gpucheck.core.reports.shared.terminal_text import TerminalText

SPREADS = ("median", "minimum", "maximum")
COLUMN = 14
GAP = 3  # blanks between the columns of the table


def render(result: Result, style: str, *, width: int, color: bool, ascii: bool) -> str:
    """Render the result in one of the model's ``FORMATS``; width, color and ascii are for the terminal."""
    if style == "json":
        return json.render(result)
    if style == "html":
        return page.render(result)
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
    spread = {"samples_per_second", "step_seconds", "epoch_seconds", "device_samples_per_second", "device_step_seconds"}
    spread |= {"input_wait_share", "accuracy", "seconds_to_target"}
    cells: list[tuple[str, Any]] = []
    for name in measurement.__struct_fields__:
        value = getattr(measurement, name)
        if name in spread:
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
    if len(order := ranked(result.measurements)) > 1:
        _add_table(out, order)
    notes = [*result.notes, *wording.missed_target(result), *advice(result.measurements)]
    if early := wording.ended_early(result):
        out.blank()
        out.add((result.ended, "fail"), early.removeprefix(result.ended), hang=2)
    if notes:
        out.blank()
    for note in notes:
        out.add(note, indent=0, label="·", hang=2)
    return str(out)


def _add_table(out: TerminalText, order: list[tuple[Measurement, float, bool]]) -> None:
    """Add a row per configuration with the settings that differ, or a paragraph per configuration if a row is too wide."""
    different = varying([measurement for measurement, _, _ in order])
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
