"""One line per node, for spreadsheets and databases."""

import csv
import io

from gpucheck.commands.fleet.formats import training_lines
from gpucheck.commands.fleet.model import Fleet, FleetTraining
from gpucheck.core.reports.shared.limited_text import line

COLUMNS = ("node", "verdict", "cause", "gpus", "started_at", "slow", "remarks")
TRAINED = ("worker", "training", "fault", "alone_samples_per_second", "link_seconds", "link_times_usual")


def render(fleet: Fleet) -> str:
    """Render CSV (RFC 4180) with a header line; nodes that trained together have additional columns."""
    text = io.StringIO()
    writer = csv.writer(text)
    workers = {} if fleet.training is None else _workers(fleet.training)
    writer.writerow(COLUMNS + (TRAINED if workers else ()))
    slow = {one.node: f"{one.value / one.median:.2f}" for one in fleet.slow}
    for node in fleet.nodes:
        row = (
            node.name,
            node.verdict,
            node.cause or "",
            node.gpus,
            node.started_at,
            slow.get(node.name, ""),
            "; ".join(node.remarks),
        )
        writer.writerow([_plain(value) for value in (*row, *workers.pop(node.name, ()))])
    for name, trained in workers.items():
        writer.writerow([_plain(value) for value in (name, "unknown", "no report", "", "", "", "", *trained)])
    return text.getvalue()


def _workers(training: FleetTraining) -> dict[str, tuple[str, ...]]:
    """Return the additional columns by node."""
    faults = {fault.node: fault.reason for fault in training.faults}
    slow = {node: f"{times:.2f}" for node, times in training_lines.slow(training).items()}
    return {
        one.node: (
            one.name,
            one.status,
            faults.get(one.node, ""),
            _number(one.alone_samples_per_second),
            _number(one.link_seconds),
            slow.get(one.node, ""),
        )
        for one in training.workers
    }


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _plain(value: str) -> str:
    """Return text on one line without control characters, and nothing that a spreadsheet would treat as a formula."""
    value = line(value)
    return f"'{value}" if value.startswith(("=", "+", "-", "@")) else value
