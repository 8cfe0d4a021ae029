"""The training table: one row per training job, as many columns as the width allows."""

from gpucheck.model import TrainingRun
from gpucheck.model.naming import devices
from gpucheck.reports._sheet import Sheet
from gpucheck.reports._words import clean, significant, strategy

HEADINGS = {
    "strategy": "strategy",
    "devices": "devices",
    "precision": "precision",
    "rate": "samples/s",
    "step": "step ms",
    "first": "first step s",
    "memory": "peak GiB",
    "loss": "loss",
    "result": "result",
}
LEFT = ("strategy", "devices", "precision", "result")
STYLES = {"passed": "ok", "failed": "fail", "timed_out": "warn", "skipped": "quiet"}
WORDS = {"passed": "ok", "failed": "FAIL", "timed_out": "out of time", "skipped": "not tried"}
INDENT, GAP = 2, 3
SHORT_DEVICES = 12  # a longer list of devices is cut before the rate is dropped


def write(sheet: Sheet, runs: tuple[TrainingRun, ...]) -> None:
    """Write the table; a run that did not pass says its stage and reason below its row."""
    # As wide as with an arrow of one letter, so that the same columns fit.
    rows = [{column: clean(text, sheet.ascii).replace(" -> ", "->") for column, text in _cells(run).items()} for run in runs]
    widths = {column: max(len(HEADINGS[column]), *(len(row[column]) for row in rows)) for column in HEADINGS}
    _fit(widths, sheet.width, _least_important_first(rows, clean("–", sheet.ascii)))
    for row in rows:
        row["devices"] = _cut(row["devices"], widths["devices"], clean("…", sheet.ascii))
    sheet.blank()
    sheet.add((_line(HEADINGS, widths), "quiet"), indent=INDENT)
    for run, row in zip(runs, rows, strict=True):
        head = _line({**row, "result": ""}, widths)
        sheet.add(
            head.ljust(sum(widths.values()) - widths["result"] + GAP * (len(widths) - 1)),
            (row["result"], STYLES.get(run.status, "")),
            indent=INDENT,
        )
        if efficiency := _efficiency(run, runs):
            sheet.add(efficiency, indent=INDENT + 4)
        if run.status != "passed":
            stage = f"at {run.stage}: " if run.stage else ""
            sheet.add(f"{stage}{run.reason or 'no reason given'}", indent=INDENT + 4)
        if run.xla_problem:
            sheet.add(f"XLA: {run.xla_problem}", indent=INDENT + 4)
        if run.fit_verified is False and run.status == "passed":
            sheet.add(f"Model.fit does not train under this strategy; this is a {run.loop} loop", indent=INDENT + 4)
        if run.note:
            sheet.add(run.note, indent=INDENT + 4)
        if run.misplaced_ops:
            sheet.add(f"not on the named device: {', '.join(run.misplaced_ops[:6])}", indent=INDENT + 4)
    if caveat := beside(runs):
        sheet.add(caveat, indent=INDENT)
    sheet.blank()


def beside(runs: tuple[TrainingRun, ...]) -> str | None:
    """Which devices' rates are less than they can do, in a sentence; None where nothing trained beside another."""
    names = dict.fromkeys(name for run in runs if run.trained_with for name in run.devices)
    return f"{devices(names)} trained at the same time, each under the others' load" if names else None


def _cells(run: TrainingRun) -> dict[str, str]:
    first, last = (significant(value) if value is not None else "–" for value in (run.loss.first, run.loss.last))
    return {
        "strategy": strategy(run),
        "devices": devices(run.devices) or "–",
        "precision": f"{run.precision} XLA" if run.compiled else run.precision,
        "rate": "–" if run.samples_per_second is None else significant(run.samples_per_second),
        "step": _fixed(run.step_seconds, 1000, 1),
        "first": _fixed(run.first_step_seconds, 1, 1),
        "memory": _fixed(run.peak_memory_bytes, 1 / (1 << 30), 2),
        "loss": "–" if (first, last) == ("–", "–") else f"{first} → {last}",
        "result": WORDS.get(run.status, run.status),
    }


def _fixed(value: float | None, factor: float, decimals: int) -> str:
    """The same number of decimals down the column, while they tell something."""
    if value is None:
        return "–"
    value *= factor
    return f"{value:,.{decimals}f}" if 10**-decimals <= value < 100 else significant(value)


def _least_important_first(rows: list[dict[str, str]], nothing: str) -> list[str]:
    """Which columns to drop in what order: what tells nothing here (nothing measured, one precision for all) goes early."""
    empty = [column for column in ("memory", "loss", "first") if all(row[column] == nothing for row in rows)]
    alike = len({row["precision"] for row in rows}) == 1
    order = ["first", "loss", *(["precision"] if alike else []), "memory", "step", "precision", "rate"]
    return list(dict.fromkeys([*empty, *order]))


def _fit(widths: dict[str, int], width: int, order: list[str]) -> None:
    """Drop columns in that order, and cut the devices, until a line fits. The last number to go is the rate."""
    for column in order:
        spare = max(widths["devices"] - SHORT_DEVICES, 0) if column == "rate" else 0
        if _total(widths) - spare > width:
            widths.pop(column, None)
    over = max(_total(widths) - width, 0)
    widths["devices"] = max(widths["devices"] - over, len(HEADINGS["devices"]))


def _total(widths: dict[str, int]) -> int:
    return INDENT + sum(widths.values()) + GAP * (len(widths) - 1)


def _line(cells: dict[str, str], widths: dict[str, int]) -> str:
    return (
        (" " * GAP)
        .join(cells[column].ljust(width) if column in LEFT else cells[column].rjust(width) for column, width in widths.items())
        .rstrip()
    )


def _cut(text: str, width: int, mark: str) -> str:
    return text if len(text) <= width else text[: width - len(mark)] + mark


def _efficiency(run: TrainingRun, runs: tuple[TrainingRun, ...]) -> str:
    """Throughput of several GPUs as a share of one GPU's times their number: measured for it, else of jobs that ran alike."""
    if run.replicas < 2 or run.status != "passed" or any(name.startswith("CPU") for name in run.devices):
        return ""
    share = run.scaling_efficiency
    source = "" if share is None else ", both as measured by the experiment scaling"
    if share is None and run.samples_per_second and len(set(run.devices)) == run.replicas:
        single = [rate for one in singles(run, runs) if (rate := one.samples_per_second)]
        share = run.samples_per_second / (sum(single) / len(single) * run.replicas) if single else None
    return "" if share is None else f"{share * 100:.0f} % of {run.replicas} × one GPU's samples/s{source}"


def singles(run: TrainingRun, runs: tuple[TrainingRun, ...]) -> list[TrainingRun]:
    """Jobs that passed on one of a run's devices alone, and did there what each of its replicas did.

    Those that nothing else trained beside, if there are any: the others' rates are less than their devices can do.
    """
    like = [
        one
        for one in runs
        if (one.strategy, one.replicas, one.status) == ("one_device", 1, "passed")
        and (one.precision, one.compiled, one.per_replica_batch_size) == (run.precision, run.compiled, run.per_replica_batch_size)
        and set(one.devices) <= set(run.devices)
    ]
    return [one for one in like if not one.trained_with] or like
