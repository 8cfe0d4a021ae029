"""Operations that should run on the GPU ran on the CPU.

Symptom:
    There are non-GPU devices in `tf.distribute.Strategy`, not using nccl allreduce.
    - Training runs, nvidia-smi shows 0 %, and all CPU cores are busy.
Cause:
    TensorFlow places an operation on the CPU if the GPU has no kernel for it (soft placement), if a program requests "/CPU:0", or
    if a strategy was created with the wrong devices. It prints no warning.
Verify:
    gpucheck: placement_verified is true for every run on a GPU.
Unless:
    Only the input pipeline runs on the CPU: that is where tf.data belongs.
Example:
    training.runs[0].status = "failed"
    training.runs[0].stage = "verify"
    training.runs[0].reason = "heavy operations ran on another device"
    training.runs[0].placement_verified = false
    training.runs[0].misplaced_ops = ["Conv2D on CPU:0"]
    -> Training on GPU:0 ran some operations on other devices: Conv2D on CPU:0.
References:
    https://www.tensorflow.org/guide/gpu#logging_device_placement
"""

from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, on_gpu
from gpucheck.core.compat.keras import TITLES
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.backend import Backend
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.context import Context


@rule(scope=Scope.CODE, explains=("training-failed",), first_check="TensorFlow's device list")
def check(
    tensorflow: TensorFlow | None, backend: Backend | None, outcomes: TrainingOutcomes, context: Context
) -> Finding | Skip | None:
    """Report heavy operations outside the run's devices, or a listed GPU although all training used CPUs."""
    for place, run in enumerate(outcomes.runs):
        if (on_gpu(run) and (run.placement_verified is False or run.misplaced_ops)) or _on_a_cpu(run.misplaced_ops):
            misplaced = listing(list(run.misplaced_ops))
            what = f"ran some operations on other devices: {misplaced}" if misplaced else "did not use all of its devices"
            return Finding(
                summary=f"Training on {listing(list(run.devices))} {what}.",
                evidence=outcomes.saw_run(place, "placement_verified", "misplaced_ops"),
                fix=repairs(context, backend=run.backend),
                affects=run.devices,
            )
    framework = backend if backend is not None and backend.other else tensorflow
    if framework is not None and framework.lists_gpu and outcomes.passed and not any(map(on_gpu, outcomes.runs)):
        return Finding(
            summary=f"{TITLES[outcomes.runs[0].backend]} lists a GPU, but all training ran on the CPU.",
            evidence=(*saw(framework, "devices"), *outcomes.saw_run(0, "devices")),
            fix=repairs(context, backend=outcomes.runs[0].backend),
            severity=Severity.WARNING,
        )
    return outcomes.skip


def _on_a_cpu(misplaced: tuple[str, ...]) -> bool:
    """Whether an operation ran on a CPU outside the run's devices, or on another logical CPU device."""
    return any(" on CPU" in op for op in misplaced)


def repairs(context: Context, *, op: str = "", backend: str = "") -> Fixes:
    """Make the work run on the GPU.

    Args:
        context: what is known about the machine.
        op: in a log, what ran on the CPU: an operation, "strategy", "convolution" or "all".
        backend: the backend that trained; empty: the log's framework, TensorFlow if unknown.
    """
    if (backend or context.framework or "tensorflow") != "tensorflow":
        yield Fix(text='Remove keras.device("cpu") and the framework\'s own device placement around the model')
        return
    if op == "convolution":
        yield Fix(text='Use the data format that the CPU also supports: keras.config.set_image_data_format("channels_last")')
    if op in ("convolution", "all", "strategy"):
        yield Fix.look("Find out why no GPU is used", "gpucheck --quick")
    if op == "strategy" or not op:
        yield Fix(text="Create the strategy without a device list, so that it uses all GPUs: tf.distribute.MirroredStrategy()")
    if op not in ("convolution", "strategy", "all"):
        yield Fix(text='Remove tf.device("/CPU:0") around the model')
        yield Fix(
            text="Turn a silent fallback into an error that names the operation: tf.config.set_soft_device_placement(False)"
        )
        yield Fix(text="Show where each operation runs: tf.debugging.set_log_device_placement(True)")
