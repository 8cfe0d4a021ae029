"""Expected training: passing strategies, speeds, the first step."""

from collections.abc import Iterator

from gpucheck.core.expectations.items import Item, Machine
from gpucheck.core.model import Evidence, Level, TrainingRun, saw
from gpucheck.core.probes.training import Training


def training(machine: Machine) -> Iterator[Item]:
    """Yield strategies that must pass, speeds and first steps."""
    if machine.request.level is Level.NODE:
        return
    expected, fact = machine.expected.training, machine.get(Training)
    absent = machine.why_not(Training)
    for strategy in expected.strategies:
        yield _passes(strategy, fact, absent)
    for strategy, speeds in expected.min_samples_per_second.items():
        for precision, least in speeds.items():
            yield from _fast(strategy, precision, least, fact, absent)
    if expected.max_first_step_seconds is not None:
        yield from _starts(expected.max_first_step_seconds, fact, absent)


def _passes(strategy: str, fact: Training | None, absent: str) -> Item:
    what, expected = f"strategy {strategy}", "a pass"
    runs = [(place, run) for place, run in _planned(fact) if run.strategy == strategy]
    for status in ("failed", "timed_out", "skipped"):
        for place, run in runs:
            if run.status == status and fact is not None:
                reason = run.reason or status.replace("_", " ")
                observed = f"failed ({reason})" if status == "failed" else reason
                evidence = saw(fact, f"runs[{place}].status", f"runs[{place}].reason")
                return Item(what, expected, observed, False if status == "failed" else None, evidence, run.devices)
    return Item(what, expected, "passed" if runs else _no_run(fact, absent), True if runs else None)


def _fast(strategy: str, precision: str, least: float, fact: Training | None, absent: str) -> Iterator[Item]:
    what, expected = f"strategy {strategy} in {precision}", f"at least {least:,g} samples/s"
    runs = [(place, run) for place, run in _measured(fact) if (run.strategy, run.precision) == (strategy, precision)]
    for place, run in runs:
        speed = run.samples_per_second
        observed = f"no speed: {run.reason or run.status}" if speed is None else f"{speed:,.4g} samples/s"
        met = None if speed is None else speed >= least
        yield Item(what, expected, observed, met, _cite(fact, place, "samples_per_second"), run.devices)
    if not runs:
        yield Item(what, expected, _no_run(fact, absent), None)


def _starts(most: float, fact: Training | None, absent: str) -> Iterator[Item]:
    runs = [(place, run, run.first_step_seconds) for place, run in _measured(fact) if run.first_step_seconds is not None]
    for place, run, seconds in runs:
        what = f"the first step of {run.strategy} in {run.precision}"
        evidence = _cite(fact, place, "first_step_seconds")
        yield Item(what, f"at most {most:g} s", f"{seconds:.3g} s", seconds <= most, evidence, run.devices)
    if not runs:
        yield Item("the first step of training", f"at most {most:g} s", _no_run(fact, absent), None)


def _cite(fact: Training | None, place: int, field: str) -> tuple[Evidence, ...]:
    return () if fact is None else saw(fact, f"runs[{place}].{field}")


def is_default_compilation(run: TrainingRun) -> bool:
    """Whether a run was compiled in its backend's default way."""
    return run.compiled == (run.backend == "jax")


def _measured(fact: Training | None) -> list[tuple[int, TrainingRun]]:
    """Return the runs whose speed and first step are compared."""
    return [(place, run) for place, run in _planned(fact) if run.status != "skipped" and is_default_compilation(run)]


def _planned(fact: Training | None) -> list[tuple[int, TrainingRun]]:
    """Return all runs except those that only diagnose the failure of another."""
    return [(place, run) for place, run in enumerate(fact.runs if fact is not None else ()) if run.cross_device is None]


def _no_run(fact: Training | None, absent: str) -> str:
    return absent if fact is None else f"no such training job{f': {fact.ending}' if fact.ending else ''}"
