"""The same computation gives a different result on this device than on others.

Symptom:
    - Accuracy differs between machines with the same data, model and seed.
    - gpucheck: the first loss of a run is not its cpu_first_loss, or the checksums of repeated computations differ.
Cause:
    gpucheck repeats the same few steps on every device, with a fixed seed and deterministic operations. A healthy device gets the
    same bits each time, and the same bits as another device of its model. One that does not computes wrongly, and no error is
    reported: a defect of its arithmetic or memory, often only when it is hot. It damages every model that is trained on it.
    If two devices differ and each repeats its own bits, this is a warning: a library may have chosen another kernel for one of them.
    Before the model has learnt anything, the loss depends only on data, weights and arithmetic; rounding explains a few thousandths.
    A larger difference means that the device computes wrongly, a library is damaged, or an option trades exactness for speed
    (XLA_FLAGS, TF_* variables).
Verify:
    gpucheck --full: both losses agree to two digits or more.
    gpucheck --soak 30: repeats the computations for half an hour, with large products in every precision and patterns in memory.
Unless:
    Never in float32; with bfloat16 a model of your own may differ by a few percent.
Example:
    training.runs[0].cpu_first_loss = 2.41
    training.runs[0].loss = {"first": 2.93, "last": 1.52}
    -> The same first step gives a loss of 2.93 in one_device on GPU:0 and of 2.41 on the CPU; they differ by 22 %, but rounding explains only up to 1 %.
References:
    https://www.tensorflow.org/guide/mixed_precision
    https://docs.nvidia.com/cuda/floating-point/index.html
"""

from gpucheck.core.combiners.training_outcomes import label, on_gpu
from gpucheck.core.model import Action, Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import NEW_ENVIRONMENT, TEST_GPU
from gpucheck.core.rules.accuracy_changes import _repeated

# Relative, for a loss of the order of one: TensorFloat-32, the default for float32 since Ampere, and float16 round to 11 bits
# (5e-4), bfloat16 to 8 (4e-3); the layers of a small network accumulate less than twenty and twelve times that.
TOLERANCE = {"float32": 0.01, "mixed_float16": 0.01, "float16": 0.01, "mixed_bfloat16": 0.05, "bfloat16": 0.05}
SMALLEST = 1e-3  # minimum reference of a relative difference


@rule(
    scope=Scope.HARDWARE,
    explains=("loss-not-falling", "loss-not-finite", "replicas-diverged", "training-failed"),
    first_check="whether the same device differs again",
)
def check(training: Training, context: Context) -> Finding | Skip | None:
    """Compare checksums of repeated computations, and the first loss of the same step on the device and on the CPU."""
    fault = next(_repeated.faults(training.checksums), None) if training.checksums is not None else None
    if fault is not None:
        return Finding(
            action=Action.DRAIN if fault.sure else Action.IGNORE,
            severity=None if fault.sure else Severity.WARNING,
            summary=fault.summary,
            evidence=saw(training, *(f"checksums.{place}" for place in fault.places)),
            fix=_longer(fault.affects[0]),
            affects=fault.affects,
        )
    compared = [
        (place, run, run.loss.first, run.cpu_first_loss)
        for place, run in enumerate(training.runs)
        if run.loss.first is not None and run.cpu_first_loss is not None
    ]
    if all("CPU" in device for run in training.runs for device in run.devices):
        return None  # the CPU is the reference
    if not compared:
        repeated = training.checksums is not None and training.checksums.devices
        return None if repeated else Skip("no run's first loss was compared with the CPU's")
    for place, run, here, there in compared:
        tolerance = TOLERANCE.get(run.precision, max(TOLERANCE.values()))
        if _relative_difference(here, there) > tolerance:
            device_loss, cpu_loss, percent = _figures(here, there, tolerance)
            return Finding(
                action=Action.DRAIN,
                summary=f"The same first step gives a loss of {device_loss} in {label(run)} and of {cpu_loss} on the CPU;"
                f" they differ by {percent} %, but rounding explains only up to {100 * tolerance:.0f} %.",
                evidence=saw(training, *(f"runs[{place}].{name}" for name in ("loss.first", "cpu_first_loss", "precision"))),
                fix=repairs(context, gpu=on_gpu(run)),
                affects=run.devices,
            )
    return None


def _longer(device: str) -> Fixes:
    if device.startswith("GPU"):
        yield TEST_GPU
    allowed = " --allow-cpu" if device.startswith("CPU") else ""
    yield Fix.look("Repeat it for longer before you rely on this device", f"gpucheck --soak 30{allowed}")


def _relative_difference(here: float, there: float) -> float:
    return abs(here - there) / max(abs(there), SMALLEST)


def _figures(here: float, there: float, tolerance: float) -> tuple[str, str, str]:
    """Format both losses and their difference in percent, with enough digits to show that it exceeds the tolerance."""
    losses = ((f"{here:.{digits}g}", f"{there:.{digits}g}") for digits in range(3, 17))
    enough = (pair for pair in losses if _relative_difference(*map(float, pair)) > tolerance)
    first, second = next(enough, (f"{here}", f"{there}"))
    difference = 100 * _relative_difference(here, there)
    percents = (f"{difference:.{digits}f}" for digits in range(15))
    return first, second, next((text for text in percents if float(text) > 100 * tolerance), f"{difference}")


def repairs(context: Context, *, gpu: bool = True) -> Fixes:
    """Find the part that computes wrongly: an option, the libraries or the GPU.

    Args:
        context: where.
        gpu: whether the device is a GPU.
    """
    yield NEW_ENVIRONMENT
    yield Fix.look(
        "Repeat it without options that trade exactness for speed",
        "env -u XLA_FLAGS -u TF_FP16_CONV_USE_FP32_COMPUTE gpucheck --full",
    )
    if gpu:
        yield TEST_GPU
