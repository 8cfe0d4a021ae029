"""The summary of a fit: as data, as at most three lines, and as HTML, Markdown and JSON."""

import html
from collections.abc import Sequence

from gpucheck.cli.screen import say_wrapped
from gpucheck.core.model.fit import FitSummary, GpuUse
from gpucheck.core.model.wording import gib, milliseconds
from gpucheck.core.reports import json
from gpucheck.core.reports.shared.document import document
from gpucheck.core.reports.shared.training import SIMILAR
from gpucheck.core.reports.shared.words import plural, significant
from gpucheck.core.system.write import OutputFile

WIDTH, HEIGHT, GAP = 480, 80, 2  # size of the plot, in pixels
AXIS = 16  # height of the labels below it
BARS_MAX = 120


class Summary(FitSummary, frozen=True, kw_only=True):
    """The figures of one fit, as ``gpucheck.keras.Watch`` returns them."""

    def __str__(self) -> str:
        return "\n".join(lines(self))

    def _repr_html_(self) -> str:
        """Return HTML without a head, for a notebook."""
        return _body(self, [*figures(self), *devices(self)])


def print_lines(text: str) -> None:
    """Print lines on standard error, below an unfinished line of a progress bar."""
    say_wrapped("\n" + text)


def lines(summary: Summary) -> list[str]:
    """Return at most three lines."""
    return joined(figures(summary), devices(summary), summary.limit)


def joined(first: Sequence[str], second: Sequence[str], last: object) -> list[str]:
    """Return two lines of figures and a last line, without empty ones."""
    texts = (" · ".join(first), " · ".join(second), str(last or ""))
    return [f"gpucheck: {text}" for text in texts if text]


def figures(summary: Summary) -> list[str]:
    """Return the figures of the steps, each as text."""
    parts = [f"worker {summary.worker} of {summary.workers}"] if summary.workers > 1 else []
    parts.append(length(summary))
    if summary.samples_per_second:
        parts.append(f"{significant(summary.samples_per_second)} samples/s")
    if summary.median_epoch_seconds and summary.epochs > 1:
        parts.append(f"median epoch {seconds(summary.median_epoch_seconds)}")
    if summary.first_step_seconds:
        parts.append(f"first step {seconds(summary.first_step_seconds)}")
    if summary.input_wait_share is not None:
        at_most = "" if summary.input_wait_exact else "at most "
        parts.append(f"{at_most}{100 * summary.input_wait_share:.0f} % of each step is spent waiting for data")
    return parts


def length(summary: Summary) -> str:
    """Return the length of a fit as text: '5 epochs, 125 steps, 44 s'."""
    end = f", interrupted {summary.interrupted}" if summary.interrupted else ""
    return f"{plural(summary.epochs, 'epoch')}, {plural(summary.steps, 'step')}, {seconds(summary.seconds)}{end}"


def devices(summary: Summary) -> list[str]:
    """Return the use of each GPU and the validation metric, each as text."""
    parts = uses(summary.gpus)
    if (metric := summary.validation) is not None:
        best = f"best {metric.best:.4g} in epoch {metric.best_epoch}, after {seconds(metric.best_after_seconds)}"
        parts.append(f"{metric.name} {metric.last:.4g} ({best})")
    return parts


def seconds(value: float) -> str:
    """Return a time as text: '90 ms', '4.6 s', '25 min 10 s', '2 h 5 min'."""
    if value < 1:
        return milliseconds(value)
    if value < 100:
        return f"{value:.3g} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def uses(gpus: Sequence[GpuUse]) -> list[str]:
    """Return the known use of each GPU as text."""
    return [f"GPU {gpu.index} {', '.join(words)}" for gpu in gpus if (words := _use(gpu))]


def _use(gpu: GpuUse) -> list[str]:
    busy = [] if gpu.utilization_percent is None else [f"{gpu.utilization_percent:.0f} % busy"]
    of = f" of {gib(gpu.total_bytes)}" if gpu.total_bytes else ""
    peak = [] if gpu.peak_bytes is None else [f"peak {gib(gpu.peak_bytes)}{of}"]
    slow = [f"throttled {100 * gpu.throttled_share:.0f} % of the time"] if gpu.throttled_share else []
    return busy + peak + slow


def write(summary: Summary, path: str) -> None:
    """Write a report in the format of the file's suffix: .json, .md or .html. Raises OSError."""
    if path.endswith(".json"):
        text = json.render(summary)
    elif path.endswith(".md"):
        text = markdown(summary)
    else:
        text = page(summary)
    OutputFile(path).commit(text)


def markdown(summary: Summary) -> str:
    """Return a list of the figures, and the limit."""
    rows = "".join(f"- {text}\n" for text in [*figures(summary), *devices(summary)])
    return f"# Training\n\n{rows}" + (f"\n{_sentence(summary.limit)}\n" if summary.limit is not None else "")


def _sentence(limit: object) -> str:
    text = str(limit)
    return text[:1].upper() + text[1:]


def page(summary: Summary) -> str:
    """Return an HTML document in the style of gpucheck's reports."""
    code = None if summary.limit is None else summary.limit.code
    more = "" if code is None else f"<p>More: <code>gpucheck explain {html.escape(code)}</code></p>"
    first, *rest = [*figures(summary), *devices(summary)]
    return document("gpucheck: training", f"Training: {first}", _body(summary, rest, more))


def _body(summary: Summary, texts: Sequence[str], more: str = "") -> str:
    """Return the conclusion, then ``more`` about it as HTML, then the figures."""
    rows = "".join(f"<li>{html.escape(text)}</li>" for text in texts)
    limit = "" if summary.limit is None else f"<p>{html.escape(_sentence(summary.limit))}</p>"
    return f"{limit}{more}<ul>{rows}</ul>{plot(summary.epoch_seconds)}"


def plot(epochs: Sequence[float]) -> str:
    """Return a bar per epoch as SVG, with an axis; its height is the epoch's time, from 0. "" if all take about the same time."""
    shown = list(epochs)[-BARS_MAX:]
    if len(shown) < 2 or max(shown) <= SIMILAR * min(shown):
        return ""
    first, longest = len(epochs) - len(shown) + 1, max(shown) or 1.0
    step = WIDTH / len(shown)
    bars = "".join(
        f'<rect x="{place * step:.1f}" y="{HEIGHT - HEIGHT * value / longest:.1f}" width="{max(step - GAP, 1):.1f}"'
        f' height="{HEIGHT * value / longest:.1f}"><title>epoch {first + place}: {seconds(value)}</title></rect>'
        for place, value in enumerate(shown)
    )
    axis = "".join(
        f'<text x="{x}" y="{HEIGHT + AXIS - 3}" text-anchor="{anchor}" font-size="12" fill="currentColor">epoch {epoch}</text>'
        for x, anchor, epoch in ((0, "start", first), (WIDTH, "end", len(epochs)))
    )
    label = f"Time of each epoch: {seconds(min(shown))} to {seconds(longest)}"
    box = f'width="{WIDTH}" viewBox="0 0 {WIDTH} {HEIGHT + AXIS}" style="max-width: 100%"'
    svg = f'<svg role="img" aria-label="{label}" {box} fill="#4c78a8">{bars}{axis}</svg>'
    return f"<figure>{svg}<figcaption>{label}</figcaption></figure>"
