"""The differences between two training runs, from the summaries that ``gpucheck.keras.Watch(report="fit.json")`` writes."""

from collections.abc import Iterator

import msgspec

from gpucheck.commands.expectations.drift import TRAINING, Change, Drift
from gpucheck.core.model import FitExpectations
from gpucheck.core.model.fit import FitSummary
from gpucheck.core.system.read import INVALID_JSON

TOLERANCE = 0.1  # share of the larger value: two runs of the same program differ by a few percent
TOLERANCE_OF_RESULTS = 0.02  # of a validation metric
PERCENT_POINTS = 10.0
RESULTS, BEST = "training results", "best "  # their group, and how the name of a result begins
WHY = {
    TRAINING: "The program trains at a different speed, or on different devices.",
    RESULTS: "The program learns better or worse than before.",
}  # by group

Value = float | str | None


def read(text: bytes) -> FitSummary | None:
    """Return the summary of a fit; None if the text is something else."""
    try:
        return msgspec.json.decode(text, type=FitSummary)
    except INVALID_JSON:
        return None


def between(old: FitSummary, new: FitSummary, baseline: str, current: str) -> Drift:
    """Compare two summaries; a figure that only one of them has is not compared."""
    before, after = ({what: (value, by) for what, value, by in _figures(fit) if value is not None} for fit in (old, new))
    changes = tuple(
        _change(what, _words(was), _words(after[what][0]))
        for what, (was, by) in before.items()
        if what in after and _differ(was, after[what][0], by)
    )
    missing = tuple(f"{what}: in {baseline if what in before else current} only" for what in sorted(before.keys() ^ after.keys()))
    return Drift(baseline=baseline, current=current, changes=changes, not_compared=missing)


def expected(limits: FitExpectations, fit: FitSummary, baseline: str, current: str) -> Drift:
    """Compare a summary with the limits of an expectations file; a figure that the summary lacks is not compared."""
    share = fit.input_wait_share
    checks: list[tuple[str, float | str | None, Value, str]] = [
        ("device", limits.device, fit.device, ""),
        ("samples/s", limits.min_samples_per_second, fit.samples_per_second, "at least"),
        ("seconds of a step", limits.max_step_seconds, fit.step_seconds, "at most"),
        ("seconds of the first step", limits.max_first_step_seconds, fit.first_step_seconds, "at most"),
        ("% of a step spent waiting for data", limits.max_input_wait_percent, None if share is None else 100 * share, "at most"),
        *((f"GPU {gpu.index}, % busy", limits.min_gpu_percent, gpu.utilization_percent, "at least") for gpu in fit.gpus),
    ]
    changes, missing = [], []
    for what, limit, value, how in checks:
        words = f"{how} {_words(limit)}".lstrip()
        if limit is not None and value is None:
            missing.append(f"{what} ({words}): not in {current}")
        elif limit is not None and not _meets(limit, value, how):
            changes.append(_change(what, words, _words(value)))
    return Drift(baseline=baseline, current=current, changes=tuple(changes), not_compared=tuple(missing))


def _change(what: str, old: str, new: str) -> Change:
    group = RESULTS if what.startswith(BEST) else TRAINING
    return Change(group=group, what=what, old=old, new=new, why=WHY[group])


def _meets(limit: Value, value: Value, how: str) -> bool:
    if isinstance(limit, float | int) and isinstance(value, float | int):
        return value >= limit if how == "at least" else value <= limit
    return str(limit).casefold() == str(value).casefold()


def _figures(fit: FitSummary) -> Iterator[tuple[str, Value, float]]:
    """Yield each figure's name and value, and its tolerance: a share, or percentage points."""
    yield "samples/s", fit.samples_per_second, TOLERANCE
    yield "seconds of a step", fit.step_seconds, TOLERANCE
    yield "seconds of the first step", fit.first_step_seconds, TOLERANCE
    yield "seconds of an epoch", fit.median_epoch_seconds, TOLERANCE
    yield "% of a step spent waiting for data", fit.input_wait_share and 100 * fit.input_wait_share, PERCENT_POINTS
    yield "device", fit.device, 0.0
    yield "replicas", fit.replicas, 0.0
    yield "what limits it", None if fit.limit is None else fit.limit.code or "no fault", 0.0
    for gpu in fit.gpus:
        yield f"GPU {gpu.index}, % busy", gpu.utilization_percent, PERCENT_POINTS
        yield f"GPU {gpu.index}, peak memory in GiB", gpu.peak_bytes and gpu.peak_bytes / (1 << 30), TOLERANCE
    if fit.validation is not None:
        yield f"{BEST}{fit.validation.name}", fit.validation.best, TOLERANCE_OF_RESULTS


def _differ(was: Value, now: Value, by: float) -> bool:
    if isinstance(was, float | int) and isinstance(now, float | int):
        return abs(was - now) > (by if by > 1 else by * max(abs(was), abs(now)))
    return was != now


def _words(value: Value) -> str:
    return f"{value:,.4g}" if isinstance(value, float | int) else str(value)
