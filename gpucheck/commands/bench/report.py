"""Render a benchmark as text, JSON and CSV."""

from collections.abc import Iterator
from typing import Any

from gpucheck.commands.bench.advice import advice, ranked, settings, varying
from gpucheck.commands.bench.figures import READINGS, one_global_batch
from gpucheck.commands.bench.model import GpuLoad, Measurement, Result, Spread
from gpucheck.core.child.messages.benchmark import Traced
from gpucheck.core.reports.shared.terminal_text import TerminalText
from gpucheck.core.reports.shared.words import duration, plural, significant, size

FORMATS = ("terminal", "json", "csv")
SPREADS = ("median", "minimum", "maximum")
COLUMN = 14
GAP = 3  # blanks between the columns of the table
SCALINGS = {"weak": "weak scaling: the same batch per replica", "strong": "strong scaling: the same global batch"}


def render(result: Result, style: str, *, width: int, color: bool, ascii: bool) -> str:
    """Render the result in one of ``FORMATS``; width, color and ascii are for the terminal."""
    if style == "json":
        return render_json(result)
    return render_csv(result) if style == "csv" else render_terminal(result, width=width, color=color, ascii=ascii)


def render_json(result: Result) -> str:
    """Render one JSON object; null means not measured."""
    import msgspec

    return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"


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
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    out.add(("gpucheck bench", "title"), f"  {'; '.join(result.hardware)}; {versions}", hang=2)
    runs = f"median (minimum to maximum) of {plural(result.ask.repeats, 'run')} after a warm-up"
    data = "" if result.ask.model else f"data: {result.ask.data}; "
    out.add((f"{result.model}; {data}{runs}", "quiet"), hang=2)
    in_all = one_global_batch(result.measurements)
    for measurement in result.measurements:
        out.blank()
        out.add((_title(measurement, in_all), "title"), hang=2)
        if measurement.status != "measured":
            style = "fail" if measurement.status == "failed" else "warn"
            out.add((measurement.status.replace("-", " "), style), f": {measurement.reason}", indent=2, hang=4)
            continue
        for label, words in _figures(measurement):
            out.add(words, indent=2, label=(label, "quiet"), hang=COLUMN + 2)
    if len(order := ranked(result.measurements)) > 1:
        _add_table(out, order)
    notes = [*result.notes, *_missed_target(result), *advice(result.measurements)]
    if result.ended != "finished":
        done = sum(measurement.status == "measured" for measurement in result.measurements)
        out.blank()
        out.add((result.ended, "fail"), f" after {done} of {plural(len(result.measurements), 'configuration')}", hang=2)
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
        speed = _spread(measurement.samples_per_second) if measurement.samples_per_second else ""
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


def _title(measurement: Measurement, in_all: bool) -> str:
    words = settings(measurement, in_all)
    batch = f"batch {words['batch']}" if measurement.batch_size else "default batch"
    parts = [words["strategy"], words["precision"], batch, "XLA" if measurement.xla else ""]
    at_once = measurement.steps_per_execution
    return ", ".join(filter(None, [*parts, f"{at_once} steps per execution" if at_once > 1 else ""]))


def _figures(measurement: Measurement) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line."""
    if measurement.samples_per_second is None or measurement.step_seconds is None or measurement.epoch_seconds is None:
        return
    epoch = f"an epoch of {plural(measurement.steps or 0, 'step')} {duration(measurement.epoch_seconds.median)}"
    step = _time(measurement.step_seconds.median)
    yield "throughput", f"{_spread(measurement.samples_per_second)} samples/s; a step {step}, {epoch}"
    if measurement.device_samples_per_second and measurement.input_wait_share:
        wait = measurement.input_wait_share
        share = f"{wait.median * 100:.0f} % ({wait.minimum * 100:.0f} to {wait.maximum * 100:.0f}) of a step waits for input"
        yield "device only", f"{_spread(measurement.device_samples_per_second)} samples/s on one resident batch; {share}"
    if measurement.first_step_seconds is not None and measurement.warmup_seconds is not None:
        at_once = measurement.steps_per_execution
        first = f"first {f'{at_once} steps' if at_once > 1 else 'step'} {duration(measurement.first_step_seconds)}"
        first = f"{first} (trace, compile, autotune)"
        steps = f"{plural(measurement.warmup_steps or 0, 'step')} {duration(measurement.warmup_seconds)}"
        yield "warm-up", f"{first}, {steps}; not in other figures"
    if measurement.peak_memory_bytes is not None:
        yield "memory", f"{size(measurement.peak_memory_bytes)} peak, maximum of the devices"
    for gpu in measurement.gpus:
        yield gpu.device, _load(gpu)
    if len(measurement.devices) > 1:
        percent, count = measurement.scaling_efficiency_percent, len(measurement.devices)
        kind = SCALINGS.get(measurement.scaling or "")
        yield "scaling", "one device was not measured" if percent is None else f"{percent:.0f} % of {count} × one device ({kind})"
    yield from _outcomes(measurement)


def _outcomes(measurement: Measurement) -> Iterator[tuple[str, str]]:
    """Yield the lines for the results of training: time to target, accuracy, cost, profile."""
    if measurement.seconds_to_target is not None:
        yield "to target", f"{_spread(measurement.seconds_to_target)} s, {' / '.join(map(str, measurement.epochs))} epochs"
    if measurement.accuracy is not None:
        where = f"{measurement.held_out_samples} held-out samples" if measurement.held_out_samples else "the training data"
        yield "accuracy", f"{measurement.accuracy.median:.3f} on {where}, last epoch"
    if measurement.dropped_samples:
        yield "dropped", f"{plural(measurement.dropped_samples, 'sample')} of each epoch, which do not fill a batch"
    if measurement.cost_per_epoch is not None:
        target = "" if measurement.cost_to_target is None else f", {measurement.cost_to_target:.3g} to the target accuracy"
        yield "cost", f"{measurement.cost_per_epoch:.3g} per epoch{target}"
    if measurement.profile:
        summary = _parts(measurement.traced) if measurement.traced else measurement.profile_problem
        yield "profile", f"{measurement.profile}: {summary}"
    elif measurement.profile_problem:
        yield "profile", f"none: {measurement.profile_problem}"


def _load(gpu: GpuLoad) -> str:
    """Return NVML's values for a GPU as text."""
    values = ((gpu.utilization_percent, "% busy"), (gpu.power_watts, "W"), (gpu.sm_clock_mhz, "MHz"))
    figures = ", ".join(f"{significant(value)} {unit}" for value, unit in values if value is not None)
    slowed = f"; throttled by {', '.join(gpu.slowed_by)}" if gpu.slowed_by else ""
    return f"{figures or 'no values from NVML'} (median of {plural(gpu.samples, 'sample')}){slowed}"


def _parts(traced: Traced) -> str:
    """Return the time of a traced step by part, as text."""
    parts = {"device": traced.device_seconds, "input": traced.input_seconds, "host": traced.host_seconds}
    shares = ", ".join(
        f"{name} {_time(seconds)} ({seconds / traced.step_seconds * 100:.0f} %)" for name, seconds in parts.items()
    )
    return f"of a step's {_time(traced.step_seconds)}, {shares}; {plural(traced.steps, 'traced step')}"


def _missed_target(result: Result) -> list[str]:
    target = result.ask.target_accuracy
    measured = [measurement for measurement in result.measurements if measurement.samples_per_second is not None]
    if target is None or all(measurement.seconds_to_target is not None for measurement in measured):
        return []
    return [f"the accuracy of {target:g} was not reached in every run of every configuration: use --epochs for more epochs"]


def _spread(values: Spread) -> str:
    return f"{significant(values.median)} ({significant(values.minimum)} to {significant(values.maximum)})"


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 1 else f"{significant(seconds * 1000)} ms"
