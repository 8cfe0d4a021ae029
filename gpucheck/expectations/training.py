"""Expected training: strategies that pass, speeds, the first step."""

from collections.abc import Iterator

from gpucheck.expectations.items import Item, Machine
from gpucheck.model import TrainingRun, saw
from gpucheck.probes.training import Training


def training(machine: Machine) -> Iterator[Item]:
    """Strategies that must pass, speeds and first steps."""
    wanted, fact = machine.expected.training, machine.get(Training)
    absent = machine.why_not(Training)
    for strategy in wanted.strategies:
        yield _passes(strategy, fact, absent)
    for strategy, speeds in wanted.min_samples_per_second.items():
        for precision, least in speeds.items():
            yield from _fast(strategy, precision, least, fact, absent)
    if wanted.max_first_step_seconds is not None:
        yield from _starts(wanted.max_first_step_seconds, fact, absent)


def _passes(strategy: str, fact: Training | None, absent: str) -> Item:
    what, expected = f"strategy {strategy}", "a pass"
    runs = [(place, run) for place, run in _planned(fact) if run.strategy == strategy]
    for status in ("failed", "timed_out", "skipped"):
        for place, run in runs:
            if run.status == status and fact is not None:
                words = run.reason or status.replace("_", " ")
                evidence = saw(fact, f"runs[{place}].status", f"runs[{place}].reason")
                told = f"failed ({words})" if status == "failed" else words
                return Item(what, expected, told, False if status == "failed" else None, evidence, run.devices)
    return Item(what, expected, "passed" if runs else _no_run(fact, absent), True if runs else None)


def _fast(strategy: str, precision: str, least: float, fact: Training | None, absent: str) -> Iterator[Item]:
    what, expected = f"strategy {strategy} in {precision}", f"at least {least:,g} samples/s"
    found = False
    for place, run in _measured(fact):
        if (run.strategy, run.precision) == (strategy, precision) and as_usual(run) and fact is not None:
            found = True
            speed = run.samples_per_second
            told = f"no speed: {run.reason or run.status}" if speed is None else f"{speed:,.4g} samples/s"
            evidence = saw(fact, f"runs[{place}].samples_per_second")
            yield Item(what, expected, told, None if speed is None else speed >= least, evidence, run.devices)
    if not found:
        yield Item(what, expected, _no_run(fact, absent), None)


def _starts(most: float, fact: Training | None, absent: str) -> Iterator[Item]:
    found = False
    for place, run in _measured(fact):
        if as_usual(run) and run.first_step_seconds is not None and fact is not None:
            found = True
            seconds = run.first_step_seconds
            evidence = saw(fact, f"runs[{place}].first_step_seconds")
            what = f"the first step of {run.strategy} in {run.precision}"
            yield Item(what, f"at most {most:g} s", f"{seconds:.3g} s", seconds <= most, evidence, run.devices)
    if not found:
        yield Item("the first step of training", f"at most {most:g} s", _no_run(fact, absent), None)


def as_usual(run: TrainingRun) -> bool:
    """Whether it was compiled no more and no less than its backend does unless told otherwise."""
    return run.compiled == (run.backend == "jax")


def _measured(fact: Training | None) -> list[tuple[int, TrainingRun]]:
    return [(place, run) for place, run in _planned(fact) if run.status != "skipped"]


def _planned(fact: Training | None) -> list[tuple[int, TrainingRun]]:
    """All runs but those that were only tried to find out why another failed."""
    return [(place, run) for place, run in enumerate(fact.runs if fact is not None else ()) if run.cross_device is None]


def _no_run(fact: Training | None, absent: str) -> str:
    return absent if fact is None else f"no such training job{f': {fact.ending}' if fact.ending else ''}"
