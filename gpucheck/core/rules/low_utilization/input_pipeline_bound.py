"""The GPU waits for data: the input pipeline is slower than the computation.

Symptom:
    Your program is HIGHLY input-bound because 68.8% of the total step time sampled is waiting for input.
    - nvidia-smi: the GPU utilization jumps between 0 % and 100 %, or stays low.
Cause:
    While the GPU computes one batch, the CPU must read, decode and augment the next. If that takes longer, or only starts when
    the GPU has finished (no prefetch), the GPU is idle for the rest of each step.
Verify:
    gpucheck --full: input_wait_share is below 0.05, or the TensorFlow Profiler no longer reports "input-bound".
Unless:
    The run was too short for the pipeline to fill its buffers.
Example:
    training.runs[0].piped_samples_per_second = 1460.0
    training.runs[0].device_samples_per_second = 3650.0
    training.runs[0].input_wait_share = 0.6
    training.experiments = [{"name": "input_pipeline", "status": "passed", "devices": ["GPU:0"], "figures": {"piped_samples_per_second": 1460.0, "batch_size": 64, "jpeg_decode_and_augment_seconds_per_sample": 0.00042, "jpeg_plain_samples_per_second": 410.0, "jpeg_prefetch_samples_per_second": 612.0, "jpeg_parallel_map_samples_per_second": 1930.0, "jpeg_cache_samples_per_second": 3200.0, "jpeg_larger_batch_size": 128, "jpeg_larger_batch_samples_per_second": 3900.0}}]
    -> one_device on GPU:0 spends 60 % of its time waiting for its input pipeline: 1460 samples per second instead of 3650.
References:
    https://www.tensorflow.org/guide/data_performance
    https://www.tensorflow.org/guide/data_performance_analysis
"""

from collections.abc import Mapping

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, label
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule
from gpucheck.core.model.thresholds import INPUT_WAIT_SHARE_HIGH
from gpucheck.core.model.wording import listing
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import CACHE_DATA, PREPARE_AHEAD

FILES = "Read from fewer, larger files (TFRecord, interleave)"
# The experiment's optimizations, each added to the previous ones: its name, and the advice.
REMEDIES = {
    "prefetch": ("prefetch", "Prepare batches ahead: end the pipeline with dataset.prefetch(tf.data.AUTOTUNE)"),
    "parallel_map": (
        "a parallel map",
        "Prepare samples on several cores: dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)",
    ),
    "cache": ("a cache", CACHE_DATA.text),
    "larger_batch": ("a larger batch", "Use batches of twice the size"),
}
# Minimum speedup over the previous optimizations. On busy CPUs without any wait, prefetch, map and cache reached 1.25 by chance.
HELPS = 1.3


@rule(severity=Severity.WARNING, scope=Scope.CODE, explains=("scaling-inefficient",))
def check(outcomes: TrainingOutcomes, context: Context) -> Finding | Skip | None:
    """Report the share of time that a run waited for input."""
    if outcomes.training is None:
        return Skip("no training job to measure it in") if outcomes.log is None else None
    measured = [
        (place, run, run.input_wait_share)
        for place, run in enumerate(outcomes.runs)
        if run.status == "passed" and run.input_wait_share is not None
    ]
    if not measured:
        return Skip("how long training waits for its input was not measured") if outcomes.passed else None
    place, run, share = max(measured, key=lambda item: item[2])
    if share < INPUT_WAIT_SHARE_HIGH:
        return None
    experiment, figures = outcomes.figures("input_pipeline", run.devices)
    tried = [f"jpeg_{name}_samples_per_second" for name in ("plain", *REMEDIES)]
    piped, alone = run.piped_samples_per_second, run.device_samples_per_second
    rates = f": {piped:.0f} samples per second instead of {alone:.0f}" if piped and alone else ""
    return Finding(
        summary=f"{label(run)} spends {100 * share:.0f} % of its time waiting for its input pipeline{rates}.",
        evidence=(
            *outcomes.saw_run(place, "input_wait_share", "piped_samples_per_second", "device_samples_per_second"),
            *outcomes.saw_figures(experiment, *(name for name in tried if name in figures)),
        ),
        fix=repairs(context, figures=figures, device=run.devices[0]),
        affects=run.devices,
    )


def repairs(context: Context, *, size: str = "", device: str = "GPU", figures: Mapping[str, float | None] | None = None) -> Fixes:
    """Prepare data faster: the optimizations that helped on this machine, with their speedup; else general advice.

    Args:
        context: what is known about the machine.
        size: elements of the shuffle buffer that training waited for: "60000".
        device: the device that waits for data.
        figures: the figures of the experiment on this machine; None: not measured.
    """
    if size:
        yield Fix(
            text=f"Shuffle file names or indices before the files are read, and use a sample buffer of fewer than {size}"
            " elements: dataset.shuffle(1000)"
        )
    if context.framework == "torch":
        yield Fix(text="Prepare batches ahead, in several processes: DataLoader(num_workers=8, persistent_workers=True)")
        yield Fix(text="Copy them to the GPU faster: DataLoader(pin_memory=True) and tensor.to(device, non_blocking=True)")
        return
    files = Fix(text=f"{FILES}, and augment on the GPU with Keras layers in the model" if device.startswith("GPU") else FILES)
    helped, remarks = _tried(figures or {}, device)
    yield from helped or (PREPARE_AHEAD, CACHE_DATA)
    yield files
    yield from remarks
    if figures is None:
        yield Fix.look("Try these on this machine, and measure each", "gpucheck --full")


def _tried(figures: Mapping[str, float | None], device: str) -> tuple[list[Fix], tuple[Fix, ...]]:
    """Return the optimizations that helped on this machine, and a remark on the others; empty if figures are missing."""
    measured = [figures.get(f"jpeg_{name}_samples_per_second") for name in ("plain", *REMEDIES)]
    rates = [rate for rate in measured if rate]
    cost = figures.get("jpeg_decode_and_augment_seconds_per_sample")
    if len(rates) < len(measured) or not cost:
        return [], ()
    helped: list[Fix] = []
    useless = []
    best = rates[0]
    for rate, (name, advice) in zip(rates[1:], REMEDIES.values(), strict=True):
        if rate < HELPS * best:
            useless.append(name)
            continue
        tried = f"tried on {device} with samples that take {1000 * cost:.2g} ms each to decode and augment, "
        gave = f"that gave {rate:.0f} instead of {best:.0f} samples per second"
        helped.append(Fix(text=f"{advice}; {'' if helped else tried}{gave}"))
        best = rate
    names = listing(useless, len(REMEDIES))
    if not helped:
        none = f"none of {names} reached {HELPS:g} times the rate"
        return helped, (Fix(text=f"Measure each of them with your own samples: tried on {device}, {none}"),)
    text = f"Expect less from {names}: also tried on {device}, without reaching {HELPS:g} times the rate"
    return helped, (Fix(text=text),) if useless else ()
