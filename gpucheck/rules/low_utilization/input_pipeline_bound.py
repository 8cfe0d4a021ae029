"""The GPU waits for data: the input pipeline takes longer than the computing.

Symptom:
    Your program is HIGHLY input-bound because 68.8% of the total step time sampled is waiting for input.
    nvidia-smi: the GPU utilization jumps between 0 % and 100 %, or stays low.
Cause:
    While the GPU computes one batch, the CPU must read, decode and augment the next. Where that takes longer, or only begins when
    the GPU is done (no prefetch), the GPU stands still for the rest of each step.
Fix:
    1. Prepare ahead, and on several cores: dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE).batch(n).prefetch(tf.data.AUTOTUNE)
    2. Keep what fits: dataset.cache() before the random augmentation, or on a local disk: dataset.cache("/local/path")
    3. Read from fewer, larger files (TFRecord, interleave), and augment on the GPU with Keras layers inside the model.
Verify:
    gpucheck --full: input_wait_share is below 0.05, or the TensorFlow Profiler no longer says "input-bound".
Unless:
    The run was so short that the pipeline had not filled its buffers yet.
Example:
    training.runs[0].samples_per_second = 1460.0
    training.runs[0].device_samples_per_second = 3650.0
    training.runs[0].input_wait_share = 0.6
    -> one_device on GPU:0 waits for its input pipeline in 60 % of its time: 1460 samples per second instead of 3650.
References:
    https://www.tensorflow.org/guide/data_performance
    https://www.tensorflow.org/guide/data_performance_analysis
"""

from gpucheck.model import Finding, Fix, Scope, Severity, Skip, TrainingRun, saw
from gpucheck.plugin import rule
from gpucheck.probes.log import Log
from gpucheck.probes.training import Training
from gpucheck.rules._training import label, passed, short

# TensorFlow's Profiler calls a program highly input-bound from 20 % of the step time on
# (op_stats_to_input_pipeline_analysis.cc in tensorflow/core/profiler/convert), and moderately from 5 % on.
HIGH = 0.2
FIX = (
    Fix(
        text="Prepare batches ahead, on several cores:"
        " dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE).batch(n).prefetch(tf.data.AUTOTUNE)"
    ),
    Fix(text="Keep what was read: dataset.cache() before the random augmentation"),
    Fix(text="Read from fewer, larger files (TFRecord, interleave), and augment on the GPU with Keras layers in the model"),
)


@rule(severity=Severity.WARNING, scope=Scope.CODE, explains=("scaling-inefficient",))
def check(training: Training | None, log: Log | None) -> Finding | Skip | None:
    """The share of its time that a run waited; else the profiler's own word for it in a log."""
    for place, event in enumerate(log.events if log is not None else ()):
        if log is not None and event.kind == "input-bound":
            return Finding(
                summary=f"The profiler found that training waits for its input pipeline: {short(event.text.lstrip('* '))}.",
                evidence=saw(log, f"events[{place}].text"),
                fix=FIX,
            )
    if training is None:
        return Skip("no training job to measure it in") if log is None else None
    known = [(place, run, share) for place, run in enumerate(training.runs) if (share := _waiting(run)) is not None]
    if not known:
        return Skip("how long training waits for its input was not measured") if passed(training) else None
    place, run, share = max(known, key=lambda item: item[2])
    if share < HIGH:
        return None
    rates = ""
    if run.samples_per_second and run.device_samples_per_second:
        rates = f": {run.samples_per_second:.0f} samples per second instead of {run.device_samples_per_second:.0f}"
    fields = ("input_wait_share", "samples_per_second", "device_samples_per_second")
    return Finding(
        summary=f"{label(run)} waits for its input pipeline in {100 * share:.0f} % of its time{rates}.",
        evidence=saw(training, *(f"runs[{place}].{name}" for name in fields)),
        fix=FIX,
        affects=run.devices,
    )


def _waiting(run: TrainingRun) -> float | None:
    """Measured directly, else from the same steps without a pipeline."""
    if run.status != "passed":
        return None
    if run.input_wait_share is not None:
        return run.input_wait_share
    if run.samples_per_second and run.device_samples_per_second:
        return max(0.0, 1 - run.samples_per_second / run.device_samples_per_second)
    return None
