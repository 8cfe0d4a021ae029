"""Charts of the training runs as inline SVG, drawn by matplotlib where it is installed. Colours are the page's own.

The SVG canvas is used directly, without pyplot: no display, no global state, no file.
"""

import math
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from gpucheck.core.model import Report, TrainingRun
from gpucheck.core.model.naming import devices
from gpucheck.core.reports.shared.limited_text import line
from gpucheck.core.reports.shared.words import significant, strategy

MISSING = "Charts are left out: matplotlib is not installed where gpucheck is."
MOST_BARS = 24
# Colours that matplotlib writes and the page replaces, so that one drawing fits light and dark.
INK, QUIET, ACCENT, SECOND = "#010203", "#040506", "#070809", "#0a0b0c"
STYLE = {INK: "var(--ink)", QUIET: "var(--quiet)", ACCENT: "var(--accent)", SECOND: "var(--second)"}
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gpucheck",
    "font.size": 12,
    "font.family": "sans-serif",
    "text.parse_math": False,
}


class Chart(NamedTuple):
    """A drawing, with its title and the numbers in words for somebody who can't see it."""

    title: str
    words: str
    svg: str


class Bars(NamedTuple):
    """One bar chart: values of the runs, each bar of one or two parts."""

    title: str
    parts: tuple[str, ...]  # names of the parts, for the legend; one name: no legend
    values: Callable[[TrainingRun], tuple[float | None, ...]]


CHARTS = (
    Bars("Samples per second", ("samples/s",), lambda run: (run.samples_per_second,)),
    Bars("Seconds per step", ("first step", "median of the others"), lambda run: (run.first_step_seconds, run.step_seconds)),
    Bars("Loss", ("first step", "last step"), lambda run: (run.loss.first, run.loss.last)),
)


def draw(report: Report) -> tuple[list[Chart], str | None]:
    """The charts, and the sentence that says why there are none."""
    runs = [run for run in report.training if run.samples_per_second is not None or run.loss.first is not None]
    if not runs:
        return [], None
    try:
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "matplotlib":
            return [], MISSING
        return [], f"Charts are left out: matplotlib is broken here ({error})."
    except Exception as error:  # compiled for another numpy, say: the report matters more than its charts
        return [], f"Charts are left out: matplotlib is broken here ({type(error).__name__}: {error})."
    charts = []
    matplotlib.set_loglevel("error")  # its notes on font caches are not the user's
    with warnings.catch_warnings(), matplotlib.rc_context(SETTINGS):
        warnings.simplefilter("ignore")  # a label in a script that its font lacks is drawn by the browser's
        for number, bars in enumerate(CHARTS):
            rows = [(run, tuple(map(_finite, bars.values(run)))) for run in runs[:MOST_BARS]]
            rows = [(run, values) for run, values in rows if any(value is not None for value in values)]
            if rows:
                figure = Figure(layout="constrained")
                FigureCanvasSVG(figure)
                charts.append(_draw(figure, bars, rows, f"chart{number}"))
    return charts, None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def label(run: TrainingRun) -> str:
    """The shortest label that distinguishes a run from the others."""
    precision = "" if run.precision == "float32" and not run.compiled else f" {run.precision}{' XLA' if run.compiled else ''}"
    names = devices(run.devices)
    return line(f"{strategy(run)} {names if len(names) <= 16 else names[:15] + '…'}{precision}")


def _draw(figure: Any, bars: Bars, rows: list[tuple[TrainingRun, tuple[float | None, ...]]], name: str) -> Chart:
    parts = len(bars.parts)
    thickness = 0.7 / parts
    figure.set_size_inches(4.6, 0.75 + 0.24 * (parts + 0.7) * len(rows) + (0.25 if parts > 1 else 0))
    axes = figure.add_subplot()
    # A value far below the largest would be no bar at all, and a first step is a hundred others: then a logarithmic scale.
    positive = [value for _, values in rows for value in values if value is not None and value > 0]
    logarithmic = parts > 1 and bool(positive) and max(positive) > 30 * min(positive)
    for part, color in zip(range(parts), (ACCENT, SECOND), strict=False):
        places = [row + (part - (parts - 1) / 2) * thickness for row in range(len(rows))]
        lengths = [values[part] or 0.0 for _, values in rows]
        axes.barh(places, lengths, height=thickness * 0.9, color=color, label=bars.parts[part])
        for place, (_, values) in zip(places, rows, strict=True):
            value = values[part]
            text = "not finite" if value is None and bars.title == "Loss" else "" if value is None else significant(value)
            axes.annotate(
                text, (value or (min(positive, default=1) if logarithmic else 0), place), (4, 0),
                textcoords="offset points", va="center", color=INK, fontsize=11,
            )  # fmt: skip
    if logarithmic:
        axes.set_xscale("log")
    axes.margins(x=0.2, y=0.02)
    axes.set_yticks(range(len(rows)), [label(run) for run, _ in rows])
    axes.invert_yaxis()
    axes.tick_params(colors=INK, length=0)
    axes.xaxis.set_visible(False)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.spines["left"].set_color(QUIET)
    if parts > 1:
        figure.legend(loc="outside lower center", ncols=parts, frameon=False, labelcolor=INK, fontsize=11)
    words = "; ".join(
        f"{label(run)}: "
        + ", ".join(
            f"{part} {'unknown' if value is None else significant(value)}" for part, value in zip(bars.parts, values, strict=True)
        )
        for run, values in rows
    )
    title = f"{bars.title} (logarithmic)" if logarithmic else bars.title
    return Chart(title, words, _svg(figure, name, f"{title}. {words}"))


class _Sink:
    """What matplotlib writes text to."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        """Take text; bytes are refused, by which matplotlib detects a text file."""
        self.text += text

    def seek(self, *_: Any) -> None:
        """Be a file."""

    def flush(self) -> None:
        """Be a file."""


def _svg(figure: Any, name: str, words: str) -> str:
    """The drawing without prolog and metadata, its identifiers its own on a page with several, its colours the page's."""
    from html import escape

    sink = _Sink()
    figure.savefig(sink, format="svg", transparent=True, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = sink.text[sink.text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", text)
    text = re.sub(r"font: [^;\"]*?([\d.]+px)[^;\"]*", r"font-size: \1", text)  # the page's fonts
    for color, variable in STYLE.items():
        text = text.replace(color, variable)
    head = f'<svg role="img" aria-label="{escape(words)}"'
    return re.sub(
        r'<svg\b(?: (?:width|height|xmlns(?::\w+)?|version)="[^"]*"| viewBox="[^"]*")*',
        lambda match: head + _box(match[0]),
        text,
        count=1,
    )


def _box(tag: str) -> str:
    box = re.search(r'viewBox="[^"]*"', tag)
    return f" {box[0]}" if box else ""
