"""Experiments in reports that people read: their figures, and the conclusion of --full in a few sentences.

The conclusion states what limits this machine, what to change, what to leave as it is, and what works. All values are measured.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpucheck.core.model import Experiment, Report
from gpucheck.core.model.naming import devices
from gpucheck.core.model.thresholds import INPUT_WAIT_SHARE_HIGH, SCALING_EFFICIENCY_EXPECTED
from gpucheck.core.reports.shared.terminal_text import Part, TerminalText
from gpucheck.core.reports.shared.terminal_training import RESULTS, STYLES
from gpucheck.core.reports.shared.words import significant, size, spelled

RESULT_WIDTH = max(map(len, RESULTS.values()))
TABLE_WIDTH = 76  # minimum width for the column of devices
# Endings of figures' names, longest first, and the format of their values.
UNITS: dict[str, Callable[[float], str]] = {
    "_samples_per_second": lambda value: f"{significant(value)} samples/s",
    "_seconds_per_sample": lambda value: f"{_seconds(value)} per sample",
    "_bytes_per_second": lambda value: f"{size(value)}/s",
    "_seconds": lambda value: _seconds(value),
    "_bytes": size,
    "_celsius": lambda value: f"{significant(value)} °C",
    "_mhz": lambda value: f"{significant(value)} MHz",
    "_share": lambda value: f"{_percent(value)} %",
    "_speedup": lambda value: f"{significant(value)} ×",
    "_steps": lambda value: f"{significant(value)} steps",
}

KINDS = ("limits", "change", "leave", "fine")  # in the order of the report
SPEEDUP_MIN = 1.2  # speedup that justifies a change
NEARLY_FASTEST = 0.9  # share of the fastest rate: of remedies that differ less, the simplest is recommended
REMEDIES = {
    "prefetch": ".prefetch(tf.data.AUTOTUNE)",
    "parallel_map": ".map(..., num_parallel_calls=tf.data.AUTOTUNE) and .prefetch(tf.data.AUTOTUNE)",
    "cache": ".cache() after a parallel map, and .prefetch(tf.data.AUTOTUNE)",
    "larger_batch": ".cache() after a parallel map, .prefetch(tf.data.AUTOTUNE) and a batch twice as large",
}
FINE = {
    "batch_normalization": "synchronized BatchNormalization sees the global batch",
    "global_batch": "replicas compute what one device computes",
    "memory_after_clear": "memory is released after clear_session",
    "memory_growth": "memory growth works",
    "out_of_memory": "after an out-of-memory error, training continues",
    "repeated_computations": "repeated computations give the same bits",
    "tensor_float_32": "TF32 is close enough to float32",
}


def figures(experiment: Experiment) -> list[str]:
    """Return an experiment's formatted figures, in order."""
    return [figure(key, value) for key, value in experiment.figures.items()]


def figure(key: str, value: float | None) -> str:
    """Format a figure: 'device 3,650 samples/s'. The unit at the end of its name becomes that of the value."""
    ending = next((ending for ending in UNITS if f"_{key}".endswith(ending)), "")
    words = spelled(key if ending == "_speedup" else f"_{key}".removesuffix(ending))
    if value is None:
        return f"{words} unknown".strip()
    if ending:
        return f"{words} {UNITS[ending](value)}".strip()
    return f"{words} {_percent(value)} %" if key.endswith("efficiency") else f"{words} {significant(value)}"


def write(out: TerminalText, report: Report) -> None:
    """Write a line for each experiment; other formats have all figures."""
    made = report.experiments
    if not made:
        return
    out.section("experiments")
    names, places = [spelled(each.name) for each in made], [devices(each.devices) for each in made]
    widths = [max(map(len, names)), max(map(len, places))]
    widths[1] *= out.width >= TABLE_WIDTH  # on narrower terminals the figures need the space
    for experiment, name, place in zip(made, names, places, strict=True):
        word = RESULTS.get(experiment.status, experiment.status)
        reason = None if experiment.reason in (None, word) else experiment.reason
        on = f"{place:{widths[1]}}   " if widths[1] else ""
        label = f"{name:{widths[0]}}   {on}"
        text = reason or measured(experiment)
        mark: Part = (f"{word:{RESULT_WIDTH if widths[1] else 0}}", STYLES.get(experiment.status, ""))
        out.add(mark, "   ", text, indent=4, label=label, hang=4 + len(label))
    out.blank()


def write_conclusion(out: TerminalText, report: Report) -> None:
    """Write the conclusion in a few sentences: what limits this machine, what to change, what to leave as it is, what works."""
    if not report.experiments:
        return
    out.blank()
    sentences = conclusion(report)
    for number, sentence in enumerate(sentences):
        again = number and sentence.kind == sentences[number - 1].kind
        out.add(sentence.text, indent=2, label="" if again else (sentence.kind, "title"), hang=10)
    out.blank()


def _seconds(value: float) -> str:
    if abs(value) >= 1 or value == 0:
        return f"{significant(value)} s"
    return f"{significant(value * 1e3)} ms" if abs(value) >= 1e-3 else f"{significant(value * 1e6)} µs"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}" if abs(share) >= 0.1 else f"{100 * share:.2g}"


class Sentence(NamedTuple):
    """A sentence, and its kind: one of ``KINDS``."""

    kind: str
    text: str


def conclusion(report: Report) -> list[Sentence]:
    """Return the sentences, those on limits first; empty without experiments."""
    made = {one.name: one for one in report.experiments if one.status == "passed"}
    failed = [
        Sentence("limits", f"The experiment {spelled(one.name)} failed: {one.reason}.")
        for one in report.experiments
        if one.status == "failed"
    ]
    unsorted = [*failed, *(sentence for name, words in _WORDS.items() if name in made for sentence in words(made[name]))]
    fine = [FINE[name] for name in made if name in FINE] + [sentence.text for sentence in unsorted if sentence.kind == "fine"]
    sentences = sorted(
        (sentence for sentence in unsorted if sentence.kind != "fine"), key=lambda sentence: KINDS.index(sentence.kind)
    )
    if fine:
        text = "; ".join(fine)
        sentences.append(Sentence("fine", f"{text[0].upper()}{text[1:]}."))
    return sentences


def _input(experiment: Experiment) -> Iterator[Sentence]:
    figures = experiment.figures
    if (share := figures.get("input_wait_share")) is not None:
        waits = f"{100 * share:.0f} % of a step is spent waiting for data"
        yield Sentence("limits", f"{waits}.") if share >= INPUT_WAIT_SHARE_HIGH else Sentence("fine", waits)
    plain = figures.get("jpeg_plain_samples_per_second")
    rates = {name: figures.get(f"jpeg_{name}_samples_per_second") or 0.0 for name in REMEDIES}
    best = next(name for name, rate in rates.items() if rate >= NEARLY_FASTEST * max(rates.values()))
    if plain and rates[best] >= SPEEDUP_MIN * plain:
        times = f"{rates[best] / plain:.1f} times as fast ({significant(rates[best])} samples/s, not {significant(plain)})"
        yield Sentence("change", f"Where images are read from files, {REMEDIES[best]} made training {times}.")


def _precision(experiment: Experiment) -> Iterator[Sentence]:
    speeds = {name: experiment.figures.get(f"{name}_training_speedup") or 0.0 for name in ("mixed_float16", "mixed_bfloat16")}
    best = max(speeds, key=lambda name: speeds[name])
    if speeds[best] >= SPEEDUP_MIN:
        yield Sentence(
            "change", f"{best} trained {speeds[best]:.1f} times as fast as float32: keras.config.set_dtype_policy({best!r})."
        )
    elif slow := {name: speed for name, speed in speeds.items() if 0 < speed < 1}:
        words = " and ".join(f"{name} {significant(speed)} times" for name, speed in slow.items())
        yield Sentence("leave", f"The precision at float32: {words} as fast.")


def _xla(experiment: Experiment) -> Iterator[Sentence]:
    plain, compiled = (experiment.figures.get(name) for name in ("step_seconds", "xla_step_seconds"))
    if plain is None or compiled is None:
        return
    if plain >= SPEEDUP_MIN * compiled > 0:
        pays = experiment.figures.get("break_even_steps")
        since = f"; it pays off from step {pays:,.0f} on" if pays else ""
        yield Sentence("change", f"XLA (jit_compile=True) made a step {plain / compiled:.1f} times as fast{since}.")
    else:
        took = f"a step took {significant(1000 * compiled)} ms with it, and {significant(1000 * plain)} ms without"
        yield Sentence("leave", f"XLA off (jit_compile=False): {took}.")


def _scaling(experiment: Experiment) -> Iterator[Sentence]:
    share, count = experiment.figures.get("scaling_efficiency"), len(experiment.devices)
    if share is None:
        return
    work = f"{devices(experiment.devices)} do the work of {share * count:.1f}"
    if share >= SCALING_EFFICIENCY_EXPECTED:
        yield Sentence("fine", work)
        return
    yield Sentence("limits", f"{work}: {100 * share:.0f} % of {count} times one.")
    doubled = experiment.figures.get("doubled_batch_scaling_efficiency")
    if doubled is not None and doubled >= share + 0.1:
        yield Sentence("change", f"With twice the batch per replica it is {100 * doubled:.0f} %: give each device more work.")


_WORDS = {"scaling": _scaling, "input_pipeline": _input, "precision": _precision, "xla_warm_up": _xla}


# A text is omitted if one of its figures was not measured. The unit of a printed figure follows its colon.
_FACTORS = {"": 1, "ms": 1000, "percent": 100, "MiB": 1 / (1 << 20)}
_TABLE = {
    "batch_normalization": (
        "distance from the global batch: {synchronized_distance_from_global_batch} if synchronized=True,"
        " otherwise {local_distance_from_global_batch}",
    ),
    "global_batch": (
        "loss after {steps} steps: replicas {last_loss_of_replicas}, one device {last_loss_of_one_device_same_global_batch}",
    ),
    "input_pipeline": (
        "samples/s: device {device_samples_per_second}, piped {piped_samples_per_second}",
        "JPEG {jpeg_plain_samples_per_second}, with cache {jpeg_cache_samples_per_second}",
    ),
    "memory_after_clear": (
        "grows by {least_growth_of_a_round_bytes:MiB} MiB per round (up to {tolerated_growth_of_a_round_bytes:MiB} MiB is usual)",
    ),
    "out_of_memory": ("the error came after {raised_after_seconds:ms} ms", "loss {loss_before} before it, {loss_after} after it"),
    "repeated_computations": (
        "{rounds} rounds of {computations} computations, the same results each time",
        "{unavailable} not available on a device",
        "at most {highest_celsius} °C",
        "SM clock {sm_clock_mhz} MHz",
    ),
    "precision": (
        "speed relative to float32: float16 {mixed_float16_training_speedup}, bfloat16 {mixed_bfloat16_training_speedup}",
        "loss after {steps} steps: {float32_last_loss}, {mixed_float16_last_loss}, {mixed_bfloat16_last_loss}",
    ),
    "scaling": (
        "efficiency {scaling_efficiency:percent} %",
        "{doubled_batch_scaling_efficiency:percent} % with twice the batch",
        "all-reduce {gradient_all_reduce_seconds:ms} ms",
    ),
    "xla_warm_up": (
        "first step {first_step_seconds} s, then {step_seconds:ms} ms",
        "XLA {xla_first_step_seconds} s, then {xla_step_seconds:ms} ms",
    ),
}


class _Figure(float):
    def __format__(self, unit: str) -> str:
        return significant(self * _FACTORS[unit])


def measured(experiment: Experiment) -> str:
    """Return an experiment's most important figures on one line; empty if it has none."""
    parts, values = [], {name: _Figure(value) for name, value in experiment.figures.items() if value is not None}
    for piece in _TABLE.get(experiment.name, ()) if experiment.status == "passed" else ():
        with contextlib.suppress(KeyError):
            parts.append(piece.format_map(values))
    return "; ".join(parts)
