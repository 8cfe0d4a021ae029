"""The results of a benchmark in words, the same in a terminal and on a page: figures, comparisons, and advice."""

from collections.abc import Iterator, Sequence

from gpucheck.commands.bench.figures import one_global_batch
from gpucheck.commands.bench.model import GpuLoad, Measurement, Result, Spread
from gpucheck.core.child.messages.benchmark import Traced
from gpucheck.core.model.naming import devices
from gpucheck.core.model.thresholds import INPUT_WAIT_SHARE_HIGH
from gpucheck.core.model.wording import listing
from gpucheck.core.reports.shared.words import duration, plural, significant, size

SCALINGS = {"weak": "weak scaling: the same batch per replica", "strong": "strong scaling: the same global batch"}

WIDE_POINTS = 20.0  # percentage points between the repeats

SENTENCES_MAX = 3


def method(result: Result) -> str:
    """Return the network, the data and the number of runs."""
    runs = f"median (minimum to maximum) of {plural(result.ask.repeats, 'run')} after a warm-up"
    data = "" if result.ask.model else f"data: {result.ask.data}; "
    return f"{result.model}; {data}{runs}"


def machine(result: Result) -> str:
    """Return the devices, and the versions of Python and its packages."""
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    return "; ".join(filter(None, [*result.hardware, versions]))


def ended_early(result: Result) -> str:
    """Return how much was measured before an early end; "" if the run finished."""
    if result.ended == "finished":
        return ""
    done = sum(measurement.status == "measured" for measurement in result.measurements)
    return f"{result.ended} after {done} of {plural(len(result.measurements), 'configuration')}"


def title(measurement: Measurement, in_all: bool) -> str:
    """Return the settings of a configuration; ``in_all``: give the batch of all replicas together."""
    words = settings(measurement, in_all)
    batch = f"batch {words['batch']}" if measurement.batch_size else "default batch"
    parts = [words["strategy"], words["precision"], batch, "XLA" if measurement.xla else ""]
    at_once = measurement.steps_per_execution
    return ", ".join(filter(None, [*parts, f"{at_once} steps per execution" if at_once > 1 else ""]))


def figures(measurement: Measurement) -> Iterator[tuple[str, str]]:
    """Yield label and text of each figure that was measured."""
    if measurement.samples_per_second is None or measurement.step_seconds is None or measurement.epoch_seconds is None:
        return
    epoch = f"an epoch of {plural(measurement.steps or 0, 'step')} {duration(measurement.epoch_seconds.median)}"
    step = _time(measurement.step_seconds.median)
    yield "throughput", f"{spread(measurement.samples_per_second)} samples/s; a step {step}, {epoch}"
    if measurement.device_samples_per_second and measurement.input_wait_share:
        wait = measurement.input_wait_share
        yield "device only", f"{spread(measurement.device_samples_per_second)} samples/s on one resident batch; {_waits(wait)}"
    if measurement.first_step_seconds is not None and measurement.warmup_seconds is not None:
        at_once = measurement.steps_per_execution
        first = f"first {f'{at_once} steps' if at_once > 1 else 'step'} {duration(measurement.first_step_seconds)}"
        first = f"{first} (trace, compile, autotune)"
        steps = f"{plural(measurement.warmup_steps or 0, 'step')} {duration(measurement.warmup_seconds)}"
        yield "warm-up", f"{first}, {steps}; excluded from other figures"
    if measurement.peak_memory_bytes is not None:
        yield "memory", f"{size(measurement.peak_memory_bytes)} peak, maximum of the devices"
    for gpu in measurement.gpus:
        yield gpu.device, _load(gpu)
    if len(measurement.devices) > 1:
        percent, count = measurement.scaling_efficiency_percent, len(measurement.devices)
        kind = SCALINGS.get(measurement.scaling or "")
        yield "scaling", "one device was not measured" if percent is None else f"{percent:.0f} % of {count} × one device ({kind})"
    yield from _outcomes(measurement)


def _waits(share: Spread) -> str:
    """Return the share of a step spent waiting for input, or only its range if that is too wide for a meaningful median."""
    lowest, highest = share.minimum * 100, share.maximum * 100
    if highest - lowest > WIDE_POINTS:
        return f"{lowest:.0f} to {highest:.0f} % of a step is spent waiting for input, which varies too much between the runs"
    return f"{share.median * 100:.0f} % ({lowest:.0f} to {highest:.0f}) of a step is spent waiting for input"


def _outcomes(measurement: Measurement) -> Iterator[tuple[str, str]]:
    """Yield the lines for the results of training: time to target, accuracy, cost, profile."""
    if measurement.seconds_to_target is not None:
        yield "to target", f"{spread(measurement.seconds_to_target)} s, {' / '.join(map(str, measurement.epochs))} epochs"
    if measurement.accuracy is not None:
        where = f"{measurement.held_out_samples} held-out samples" if measurement.held_out_samples else "the training data"
        yield "accuracy", f"{measurement.accuracy.median:.3f} on {where}, last epoch"
    if measurement.dropped_samples:
        yield "dropped", f"{plural(measurement.dropped_samples, 'sample')} of each epoch, which do not fill a batch"
    if measurement.cost_per_epoch is not None:
        target = "" if measurement.cost_to_target is None else f", {measurement.cost_to_target:.3g} to the target accuracy"
        yield "cost", f"{measurement.cost_per_epoch:.3g} per epoch{target}"
    if measurement.profile:
        summary = _parts(measurement.traced) if measurement.traced else measurement.profile_problem
        yield "profile", f"{measurement.profile}: {summary}"
    elif measurement.profile_problem:
        yield "profile", f"none: {measurement.profile_problem}"


def _load(gpu: GpuLoad) -> str:
    """Return NVML's values for a GPU as text."""
    values = ((gpu.utilization_percent, "% busy"), (gpu.power_watts, "W"), (gpu.sm_clock_mhz, "MHz"))
    figures = ", ".join(f"{significant(value)} {unit}" for value, unit in values if value is not None)
    slowed = f"; throttled by {', '.join(gpu.slowed_by)}" if gpu.slowed_by else ""
    return f"{figures or 'no values from NVML'} (median of {plural(gpu.samples, 'sample')}){slowed}"


def _parts(traced: Traced) -> str:
    """Return the time of a traced step by part, as text."""
    parts = {"device": traced.device_seconds, "input": traced.input_seconds, "host": traced.host_seconds}
    shares = ", ".join(
        f"{name} {_time(seconds)} ({seconds / traced.step_seconds * 100:.0f} %)" for name, seconds in parts.items()
    )
    return f"of a step's {_time(traced.step_seconds)}, {shares}; {plural(traced.steps, 'traced step')}"


def missed_target(result: Result) -> list[str]:
    """Return a note if a configuration did not reach the target accuracy."""
    target = result.ask.target_accuracy
    measured = [measurement for measurement in result.measurements if measurement.samples_per_second is not None]
    if target is None or all(measurement.seconds_to_target is not None for measurement in measured):
        return []
    return [f"the accuracy of {target:g} was not reached in every run of every configuration: use --epochs for more epochs"]


def spread(values: Spread) -> str:
    """Return a median with its range: "300 (290 to 310)"."""
    return f"{significant(values.median)} ({significant(values.minimum)} to {significant(values.maximum)})"


def _time(seconds: float) -> str:
    return duration(seconds) if seconds >= 1 else f"{significant(seconds * 1000)} ms"


def ranked(measurements: Sequence[Measurement]) -> list[tuple[Measurement, float, bool]]:
    """Return the measured configurations by speed, each with its ratio to the fastest, and whether the two ranges overlap."""
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
    """Return, for each configuration, the settings that are not the same in all."""
    in_all = one_global_batch(measurements)
    every = [settings(one, in_all) for one in measurements]
    names = [name for name in every[0] if len({one[name] for one in every}) > 1]
    return [{name: one[name] for name in names} for one in every]


def _failures_advice(failures: Sequence[Measurement]) -> Iterator[str]:
    """Yield a sentence about the first failure whose cause is known."""
    if not failures:
        return
    from gpucheck.core.logs import causes, reading  # a benchmark without a failure does not need these

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
        yield f"The normal speed is unknown: GPUs were throttled ({names}), see `gpucheck explain gpu-throttled`."
    waiting = [one for one in measured if one.input_wait_share and one.input_wait_share.minimum >= INPUT_WAIT_SHARE_HIGH]
    if waiting:
        yield (
            f"Change the input pipeline: {len(waiting)} of {plural(len(measured), 'configuration')}"
            f" spend{'s' * (len(waiting) == 1)} much of each step waiting for input,"
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
        yield f"Keep {listing(leave)}."
    if unclear:
        yield f"No conclusion on {listing(unclear)}: the ranges overlap with the first configuration's; increase --repeats."


def _shares_a_cpu(one: Measurement, first: Measurement) -> bool:
    """Whether one of them uses several parts of the CPU: a larger batch on the same cores is no reason to change the strategy."""
    return one.devices != first.devices and any("CPU" in name for name in one.devices)


def _differences(old: Measurement, new: Measurement, in_all: bool) -> dict[str, tuple[str, str]]:
    before, after = settings(old, in_all), settings(new, in_all)
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def _overlap(one: Measurement, other: Measurement) -> bool:
    return _speed(one).minimum <= _speed(other).maximum and _speed(other).minimum <= _speed(one).maximum


def _speed(one: Measurement) -> Spread:
    assert one.samples_per_second is not None  # noqa: S101 - callers pass measured configurations only
    return one.samples_per_second
