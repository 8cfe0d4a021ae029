"""Format the figures of experiments, for reports that people read."""

from collections.abc import Callable

from gpucheck.core.model import Experiment, Report
from gpucheck.core.model.naming import devices
from gpucheck.core.reports.shared.conclusion import conclusion, measured
from gpucheck.core.reports.shared.terminal_text import Part, TerminalText
from gpucheck.core.reports.shared.terminal_training import RESULTS, STYLES
from gpucheck.core.reports.shared.words import significant, size, spelled

RESULT_WIDTH = max(map(len, RESULTS.values()))
TABLE_WIDTH = 76  # minimum width for the column of devices
# Endings of figures' names, longest first, and the format of their values.
UNITS: dict[str, Callable[[float], str]] = {
    "_samples_per_second": lambda value: f"{significant(value)} samples/s",
    "_seconds_per_sample": lambda value: f"{_seconds(value)} per sample",
    "_bytes_per_second": lambda value: f"{size(value)}/s",
    "_seconds": lambda value: _seconds(value),
    "_bytes": size,
    "_celsius": lambda value: f"{significant(value)} °C",
    "_mhz": lambda value: f"{significant(value)} MHz",
    "_share": lambda value: f"{_percent(value)} %",
    "_speedup": lambda value: f"{significant(value)} ×",
    "_steps": lambda value: f"{significant(value)} steps",
}


def figures(experiment: Experiment) -> list[str]:
    """Return its formatted figures, in its order."""
    return [figure(key, value) for key, value in experiment.figures.items()]


def figure(key: str, value: float | None) -> str:
    """Format a figure: 'device 3,650 samples/s'. The unit at the end of its name becomes that of the value."""
    ending = next((ending for ending in UNITS if f"_{key}".endswith(ending)), "")
    words = spelled(key if ending == "_speedup" else f"_{key}".removesuffix(ending))
    if value is None:
        return f"{words} unknown".strip()
    if ending:
        return f"{words} {UNITS[ending](value)}".strip()
    return f"{words} {_percent(value)} %" if key.endswith("efficiency") else f"{words} {significant(value)}"


def write(out: TerminalText, report: Report) -> None:
    """Write a line for each experiment; other formats have all figures."""
    made = report.experiments
    if not made:
        return
    out.section("experiments")
    names, places = [spelled(each.name) for each in made], [devices(each.devices) for each in made]
    widths = [max(map(len, names)), max(map(len, places))]
    widths[1] *= out.width >= TABLE_WIDTH  # on narrower terminals the figures need the space
    for experiment, name, place in zip(made, names, places, strict=True):
        word = RESULTS.get(experiment.status, experiment.status)
        reason = None if experiment.reason in (None, word) else experiment.reason
        on = f"{place:{widths[1]}}   " if widths[1] else ""
        label = f"{name:{widths[0]}}   {on}"
        text = reason or measured(experiment)
        mark: Part = (f"{word:{RESULT_WIDTH if widths[1] else 0}}", STYLES.get(experiment.status, ""))
        out.add(mark, "   ", text, indent=4, label=label, hang=4 + len(label))
    out.blank()


def write_conclusion(out: TerminalText, report: Report) -> None:
    """Write the conclusion in a few sentences: what limits this machine, what to change, to leave, what is fine."""
    if not report.experiments:
        return
    out.blank()
    sentences = conclusion(report)
    for number, sentence in enumerate(sentences):
        again = number and sentence.kind == sentences[number - 1].kind
        out.add(sentence.text, indent=2, label="" if again else (sentence.kind, "title"), hang=10)
    out.blank()


def _seconds(value: float) -> str:
    if abs(value) >= 1 or value == 0:
        return f"{significant(value)} s"
    return f"{significant(value * 1e3)} ms" if abs(value) >= 1e-3 else f"{significant(value * 1e6)} µs"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if abs(share) >= 0.1 else f"{100 * share:.2g}"
