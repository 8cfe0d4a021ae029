"""Advice from the results of a benchmark: settings to change, settings to leave, and differences within noise."""

from collections.abc import Iterator, Sequence

from gpucheck.commands.bench.figures import one_global_batch
from gpucheck.commands.bench.model import Measurement, Spread
from gpucheck.core.model.naming import devices
from gpucheck.core.repairs.wording import listing
from gpucheck.core.reports.shared.words import plural

INPUT_WAIT_SHARE_HIGH = 0.2  # minimum share of a step at which the pipeline is worth optimising
SENTENCES_MAX = 3


def ranked(measurements: Sequence[Measurement]) -> list[tuple[Measurement, float, bool]]:
    """Return the measured ones by speed, each with its ratio to the fastest, and whether the two ranges overlap."""
    order = sorted((one for one in measurements if one.samples_per_second), key=lambda one: -_speed(one).median)
    return [(one, _speed(one).median / _speed(order[0]).median, _overlap(one, order[0])) for one in order]


def advice(measurements: Sequence[Measurement]) -> list[str]:
    """Return at most three sentences: about a failure, and comparisons of the other configurations with the first one."""
    measured = [one for one in measurements if one.samples_per_second]
    comparable = [one for one in measured if not _shares_a_cpu(one, measured[0])]
    about_settings = _settings_advice(comparable) if len(comparable) > 1 else ()
    failures = [one for one in measurements if one.status == "failed"]
    return [*_failures_advice(failures), *_conditions_advice(measured), *about_settings][:SENTENCES_MAX]


def settings(one: Measurement, in_all: bool) -> dict[str, str]:
    """Return the settings of a configuration by name; ``in_all``: the batch is that of all replicas, see ``one_global_batch``."""
    on = f" on {devices(one.devices)}" if one.devices else ""
    batch = f"{one.batch_size * max(1, len(one.devices))} in all" if in_all else f"{one.batch_size} per replica"
    return {
        "strategy": f"{one.strategy}{on}",
        "precision": one.precision,
        "batch": batch if one.batch_size else "default",
        "XLA": "on" if one.xla else "off",
        "steps per execution": str(one.steps_per_execution),
    }


def varying(measurements: Sequence[Measurement]) -> list[dict[str, str]]:
    """Return for each configuration the settings that are not the same in all."""
    in_all = one_global_batch(measurements)
    every = [settings(one, in_all) for one in measurements]
    names = [name for name in every[0] if len({one[name] for one in every}) > 1]
    return [{name: one[name] for name in names} for one in every]


def _failures_advice(failures: Sequence[Measurement]) -> Iterator[str]:
    """Yield a sentence about the first failure whose cause is known."""
    if not failures:
        return
    from gpucheck.core.logs import causes, reading  # which a benchmark without a failure does not need

    for failure in failures:
        log = reading.parse((failure.reason or "").splitlines(), "the failure")
        for code, cause in causes.judge(log).items():
            if code != "training-failed":
                yield f"{cause.summary.removesuffix('.')}, see `gpucheck explain {code}`."
                return


def _conditions_advice(measured: Sequence[Measurement]) -> Iterator[str]:
    slowed = {reason for one in measured for gpu in one.gpus for reason in gpu.slowed_by}
    if slowed:
        names = ", ".join(sorted(slowed))
        yield f"Can't tell the normal speed: GPUs were throttled ({names}), see `gpucheck explain gpu-throttled`."
    waiting = [one for one in measured if one.input_wait_share and one.input_wait_share.minimum >= INPUT_WAIT_SHARE_HIGH]
    if waiting:
        yield (
            f"Change the input pipeline: {len(waiting)} of {plural(len(measured), 'configuration')}"
            f" wait{'s' * (len(waiting) == 1)} for input for much of each step,"
            " see `gpucheck explain input-pipeline-bound`."
        )


def _settings_advice(measured: Sequence[Measurement]) -> Iterator[str]:
    first, best, in_all = measured[0], ranked(measured)[0][0], one_global_batch(measured)
    change = {} if _overlap(first, best) else _differences(first, best, in_all)
    if change:
        changes = ", ".join(f"{name} to {new}" for name, (_, new) in change.items())
        before = ", ".join(old for old, _ in change.values())
        yield f"Change {changes}: {_speed(best).median / _speed(first).median:.2f} times as fast as {before}."
    leave, unclear = [], []
    for other in measured[1:]:
        differences = _differences(first, other, in_all)
        if len(differences) != 1 or differences.keys() & change.keys():
            continue
        ((name, (old, new)),) = differences.items()
        if _overlap(first, other):
            unclear.append(f"{name} {new}")
        elif _speed(other).median < _speed(first).median:
            leave.append(f"{name} at {old} ({new} is {_speed(other).median / _speed(first).median:.2f} times as fast)")
    if leave:
        yield f"Leave {listing(leave)}."
    if unclear:
        yield f"Can't tell about {listing(unclear)}: the ranges overlap that of the first configuration; use more --repeats."


def _shares_a_cpu(one: Measurement, first: Measurement) -> bool:
    """Whether one of them uses several parts of the CPU: a larger batch on the same cores, no reason to change the strategy."""
    return one.devices != first.devices and any("CPU" in name for name in one.devices)


def _differences(old: Measurement, new: Measurement, in_all: bool) -> dict[str, tuple[str, str]]:
    before, after = settings(old, in_all), settings(new, in_all)
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def _overlap(one: Measurement, other: Measurement) -> bool:
    return _speed(one).minimum <= _speed(other).maximum and _speed(other).minimum <= _speed(one).maximum


def _speed(one: Measurement) -> Spread:
    assert one.samples_per_second is not None  # noqa: S101 - callers pass measured configurations only
    return one.samples_per_second
