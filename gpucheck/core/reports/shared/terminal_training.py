"""The training table of a terminal: one row per training job, as many columns as the width allows."""

from gpucheck.core.model import TrainingRun
from gpucheck.core.reports.shared.terminal_text import TerminalText
from gpucheck.core.reports.shared.training import NOTHING, concurrency_note, row, singles, why_not
from gpucheck.core.reports.shared.words import clean, significant

HEADINGS = {
    "strategy": "strategy",
    "devices": "devices",
    "precision": "precision",
    "rate": "samples/s",
    "step": "step ms",
    "first_step": "first step s",
    "memory": "peak GiB",
    "loss": "loss",
    "result": "result",
}
LEFT_ALIGNED = ("strategy", "devices", "precision", "result")
STYLES = {"passed": "ok", "failed": "fail", "timed_out": "warn", "skipped": "quiet"}
RESULTS = {"passed": "ok", "failed": "FAIL", "timed_out": "timed out", "skipped": "skipped"}
INDENT, GAP = 2, 3
DEFAULT_PRECISION = "float32"
SHORT_DEVICES = 12  # longer lists of devices are cut before the rate is dropped


def write(out: TerminalText, runs: tuple[TrainingRun, ...]) -> None:
    """Write the table; below the row of a run that did not pass are its stage and reason."""
    # The arrow keeps its width in ASCII, so that the same columns fit.
    rows = [{column: clean(text, out.ascii).replace(" -> ", "->") for column, text in _cells(run, runs).items()} for run in runs]
    widths = {column: max(len(HEADINGS[column]), *(len(cells[column]) for cells in rows)) for column in HEADINGS}
    nothing = clean(NOTHING, out.ascii)
    for column in ("memory", "loss", "first_step", "step"):
        if all(cells[column] == nothing for cells in rows):
            del widths[column]
    alike = len({cells["precision"] for cells in rows}) == 1
    _fit(widths, out.width, ["first_step", "loss", *(["precision"] if alike else []), "memory", "step", "precision", "rate"])
    for cells in rows:
        cells["devices"] = _cut(cells["devices"], widths["devices"], clean("…", out.ascii))
    out.blank()
    out.add((_line(HEADINGS, widths), "quiet"), indent=INDENT)
    below = "precision" not in widths and not alike  # otherwise rows on a narrow screen look the same
    before_result = _total(widths) - INDENT - widths["result"]
    for run, cells in zip(runs, rows, strict=True):
        head = _line({**cells, "result": ""}, widths).ljust(before_result)
        out.add(head, (cells["result"], STYLES.get(run.status, "")), indent=INDENT)
        if below and cells["precision"] != DEFAULT_PRECISION:
            out.add(cells["precision"], indent=INDENT + 4)
        for note in _notes(run, runs):
            out.add(note, indent=INDENT + 4)
    if caveat := concurrency_note(runs):
        out.add(caveat, indent=INDENT)
    out.blank()


def _notes(run: TrainingRun, runs: tuple[TrainingRun, ...]) -> list[str]:
    """Return the text below the row of a job."""
    by_itself = run.fit_verified is False and run.status == "passed"
    notes = [
        _efficiency(run, runs),
        why_not(run) if run.status != "passed" else None,
        f"XLA: {run.xla_problem}" if run.xla_problem else None,
        f"Model.fit does not train under this strategy; this is a {run.loop} loop" if by_itself else None,
        run.note,
        f"not on the assigned device: {', '.join(run.misplaced_ops[:6])}" if run.misplaced_ops else None,
    ]
    return [note for note in notes if note]


def _cells(run: TrainingRun, runs: tuple[TrainingRun, ...]) -> dict[str, str]:
    plain = row(run)
    # only losses of equally many steps are comparable
    if plain.loss != NOTHING and len({one.steps for one in runs if one.steps}) > 1:
        plain = plain._replace(loss=f"{plain.loss} in {run.steps}")
    return {
        **plain._asdict(),
        "step": _fixed(run.step_seconds, 1000, 1),
        "first_step": _fixed(run.first_step_seconds, 1, 1),
        "memory": _fixed(run.peak_memory_bytes, 1 / (1 << 30), 2),
        "result": RESULTS.get(run.status, run.status),
    }


def _fixed(value: float | None, factor: float, decimals: int) -> str:
    """Format a column with equal decimals, as many as are needed to distinguish its values."""
    if value is None:
        return NOTHING
    value *= factor
    return f"{value:,.{decimals}f}" if 10**-decimals <= value < 100 else significant(value)


def _fit(widths: dict[str, int], width: int, order: list[str]) -> None:
    """Drop columns in that order, the least important first, and cut the devices, until a line fits."""
    for column in order:
        spare = max(widths["devices"] - SHORT_DEVICES, 0) if column == "rate" else 0
        if _total(widths) - spare > width:
            widths.pop(column, None)
    over = max(_total(widths) - width, 0)
    widths["devices"] = max(widths["devices"] - over, len(HEADINGS["devices"]))


def _total(widths: dict[str, int]) -> int:
    return INDENT + sum(widths.values()) + GAP * (len(widths) - 1)


def _line(cells: dict[str, str], widths: dict[str, int]) -> str:
    aligned = (
        cells[column].ljust(width) if column in LEFT_ALIGNED else cells[column].rjust(width) for column, width in widths.items()
    )
    return (" " * GAP).join(aligned).rstrip()


def _cut(text: str, width: int, mark: str) -> str:
    return text if len(text) <= width else text[: width - len(mark)] + mark


def _efficiency(run: TrainingRun, runs: tuple[TrainingRun, ...]) -> str | None:
    """Return the scaling efficiency of a run on several GPUs: from its experiment, or else from comparable jobs."""
    if run.replicas < 2 or run.status != "passed" or any(name.startswith("CPU") for name in run.devices):
        return None
    share = run.scaling_efficiency
    source = "" if share is None else ", both measured by the experiment scaling"
    if share is None and run.samples_per_second and len(set(run.devices)) == run.replicas:
        rates = [single.samples_per_second for single in singles(run, runs) if single.samples_per_second]
        share = run.samples_per_second / (sum(rates) / len(rates) * run.replicas) if rates else None
    return None if share is None else f"{share * 100:.0f} % of {run.replicas} × one GPU's samples/s{source}"
