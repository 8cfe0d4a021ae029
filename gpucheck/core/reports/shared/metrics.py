"""Write metrics for Prometheus: gauges in its text format, without timestamps.

Source: prometheus.io, "Exposition formats", the text-based format.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gpucheck.core.reports.shared.limited_text import line

Labels = dict[str, str]


class Gauge(NamedTuple):
    """One metric, ``gpucheck_NAME``. Of samples with equal labels, the first is written."""

    name: str
    meaning: str  # without a full stop; the same in every file, as node_exporter's textfile collector requires
    samples: Sequence[tuple[Labels, float]]


def exposition(gauges: Iterable[Gauge]) -> str:
    """The text of all metrics, in their order."""
    return "".join(f"{each}\n" for gauge in gauges for each in _lines(gauge))


def _lines(gauge: Gauge) -> Iterator[str]:
    name = f"gpucheck_{gauge.name}"
    yield f"# HELP {name} {gauge.meaning}."
    yield f"# TYPE {name} gauge"
    values: dict[str, float] = {}
    for labels, value in gauge.samples:
        values.setdefault(_text(labels), float(value))
    for labels_text, value in values.items():
        yield f"{name}{labels_text} {value}"


def _text(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in sorted(labels.items()))
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return line(value).replace("\\", "\\\\").replace('"', '\\"')
