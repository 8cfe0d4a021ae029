"""What experiments measured, in words: shared by the reports that people read."""

from collections.abc import Callable

from gpucheck.model import Experiment
from gpucheck.model.naming import devices
from gpucheck.reports.shared.terminal_text import Part, TerminalText
from gpucheck.reports.shared.terminal_training import RESULTS, STYLES
from gpucheck.reports.shared.words import significant, size, spelled

# Endings of figures' names, longest first, and how their values are written.
UNITS: dict[str, Callable[[float], str]] = {
    "_samples_per_second": lambda value: f"{significant(value)} samples/s",
    "_seconds_per_sample": lambda value: f"{_seconds(value)} per sample",
    "_bytes_per_second": lambda value: f"{size(value)}/s",
    "_seconds": lambda value: _seconds(value),
    "_bytes": size,
    "_share": lambda value: f"{_percent(value)} %",
    "_speedup": lambda value: f"{significant(value)} ×",
    "_steps": lambda value: f"{significant(value)} steps",
}


def name(experiment: Experiment) -> str:
    """'input pipeline'."""
    return spelled(experiment.name)


def figures(experiment: Experiment) -> list[str]:
    """Its figures in words, in the order in which it gives them."""
    return [figure(key, value) for key, value in experiment.figures.items()]


def figure(key: str, value: float | None) -> str:
    """'device 3,650 samples/s': the unit at the end of a figure's name becomes its value's."""
    ending = next((ending for ending in UNITS if f"_{key}".endswith(ending)), "")
    words = spelled(key if ending == "_speedup" else f"_{key}".removesuffix(ending))
    if value is None:
        return f"{words} unknown".strip()
    if ending:
        return f"{words} {UNITS[ending](value)}".strip()
    return f"{words} {_percent(value)} %" if key.endswith("efficiency") else f"{words} {significant(value)}"


def write(out: TerminalText, experiments: tuple[Experiment, ...]) -> None:
    """Each with its result and, below it, its figures."""
    if not experiments:
        return
    out.blank()
    out.add(("experiments", "title"), indent=2)
    for experiment in experiments:
        on = f" on {devices(experiment.devices)}" if experiment.devices else ""
        word = RESULTS.get(experiment.status, experiment.status)
        reason = f": {experiment.reason}" if experiment.reason not in (None, word) else ""
        result: Part = (word, STYLES.get(experiment.status, ""))
        out.add(f"{name(experiment)}{on}: ", result, reason, indent=4, hang=6)
        if experiment.figures:
            out.flow(list(figures(experiment)), " · ", indent=6, hang=6)
    out.blank()


def _seconds(value: float) -> str:
    if abs(value) >= 1 or value == 0:
        return f"{significant(value)} s"
    return f"{significant(value * 1e3)} ms" if abs(value) >= 1e-3 else f"{significant(value * 1e6)} µs"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if abs(share) >= 0.1 else f"{100 * share:.2g}"
