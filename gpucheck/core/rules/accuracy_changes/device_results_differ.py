"""The same computation gives a different result on this device than on others.

Symptom:
    - Accuracy differs between machines with the same data, model and seed.
    - gpucheck: the first loss of a run differs from its cpu_first_loss, or the checksums of repeated computations differ.
Cause:
    gpucheck repeats the same few steps on every device, with a fixed seed and deterministic operations. A healthy device gets the
    same bits each time, and the same bits as another device of its model. A device that does not computes wrong results, without
    an error: its arithmetic or memory is defective, often only when it is hot. It damages every model that is trained on it.
    If two devices differ but each repeats its own bits, this is a warning: a library may have chosen another kernel on one of
    them. Before the model has learned anything, the loss depends only on data, weights and arithmetic; rounding explains a few
    thousandths. A larger difference means that the device computes wrongly, a library is damaged, or an option trades exactness
    for speed (XLA_FLAGS, TF_* variables).
Verify:
    gpucheck --full: both losses agree to two digits or more.
    gpucheck --soak 30: repeats the computations for half an hour, with large products in every precision and patterns in memory.
Unless:
    Never in float32; with bfloat16, your own model may differ by a few percent.
Example:
    training.runs[0].cpu_first_loss = 2.41
    training.runs[0].loss = {"first": 2.93, "last": 1.52}
    -> The same first step gives a loss of 2.93 in one_device on GPU:0 and of 2.41 on the CPU; they differ by 22 %, but rounding explains only up to 1 %.
References:
    https://www.tensorflow.org/guide/mixed_precision
    https://docs.nvidia.com/cuda/floating-point/index.html
"""

from collections.abc import Iterator

from gpucheck.core.combiners.training_outcomes import label, on_gpu
from gpucheck.core.model import Action, Checksums, DeviceChecksums, Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.checksums import Difference, between_devices, describe
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.training import Training
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import NEW_ENVIRONMENT, TEST_GPU

# Relative, for a loss of the order of one: TensorFloat-32, the default for float32 since Ampere, and float16 round to 11 bits
# (5e-4), bfloat16 to 8 (4e-3); the layers of a small network accumulate less than twenty and twelve times that.
TOLERANCE = {"float32": 0.01, "mixed_float16": 0.01, "float16": 0.01, "mixed_bfloat16": 0.05, "bfloat16": 0.05}
SMALLEST = 1e-3  # minimum reference of a relative difference
FARTHER = 10  # ratio; rounding puts two healthy devices about equally far from the CPU


@rule(
    scope=Scope.HARDWARE,
    explains=("loss-not-falling", "loss-not-finite", "replicas-diverged", "training-failed"),
    first_check="whether the same device differs again",
)
def check(training: Training, context: Context) -> Finding | Skip | None:
    """Compare checksums of repeated computations, and the first loss of the same step on the device and on the CPU."""
    if (fault := next(_repeated(training), None)) is not None:
        return fault
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


def _repeated(training: Training) -> Iterator[Finding]:
    """Yield faults of repeated computations, the clearest first: a wrong result, a device that varies, devices that differ."""
    checksums = training.checksums
    if checksums is None:
        return
    for place, device in enumerate(checksums.devices):
        for computation, distance in device.wrong.items():
            yield _fault(training, _wrong(device, computation, distance), (f"devices[{place}].wrong",), (device.device,))
    for place, device in enumerate(checksums.devices):
        for computation, rounds in device.unstable.items():
            yield _fault(
                training,
                f"{device.device} gets different results from the same computation: {describe(computation)} differed in {rounds} of"
                f" {device.rounds - 1} repetitions.",
                (f"devices[{place}].unstable",),
                (device.device,),
            )
    for difference, members in between_devices(checksums):
        yield _between(training, checksums, difference, members)


def _fault(training: Training, summary: str, places: tuple[str, ...], affects: tuple[str, ...], *, sure: bool = True) -> Finding:
    """Report a device that computes wrongly.

    Args:
        training: the results.
        summary: the finding's summary.
        places: fields of the checksums that show it.
        affects: the devices.
        sure: False: different kernels of a library could also explain the difference.
    """
    return Finding(
        action=Action.DRAIN if sure else Action.IGNORE,
        severity=None if sure else Severity.WARNING,
        summary=summary,
        evidence=saw(training, *(f"checksums.{place}" for place in places)),
        fix=_longer(affects[0]),
        affects=affects,
    )


def _wrong(device: DeviceChecksums, computation: str, difference: float) -> str:
    name, what = device.device, describe(computation)
    if computation.startswith("memory"):
        return f"{name} corrupts its memory: {difference:,.0f} values of {what} had changed when they were read back."
    return f"{name} computes {what} incorrectly: the result is off by {difference:.2g} of its largest value."


def _between(training: Training, checksums: Checksums, difference: Difference, members: dict[str, DeviceChecksums]) -> Finding:
    outliers = difference.outliers if difference.majority else _farthest(members, checksums.reference)
    affected = outliers or tuple(sorted(difference.outliers + difference.matching))
    others = tuple(name for name in members if name not in affected)
    model = members[affected[0]].model
    if others:
        verb = "gets" if len(affected) == 1 else "get"
        what = f"{devices(affected)} {verb} different results than {devices(others)}, the same model"
    else:
        what = f"{devices(affected)} get different results, although they are the same model"
    numbers = {device.device: place for place, device in enumerate(checksums.devices)}
    shown = (affected[0], others[0] if others else affected[-1])
    return _fault(
        training,
        f"{what} ({model}): they first differ in {describe(difference.computation)}.",
        tuple(f"devices[{numbers[name]}].checksums.{difference.computation}" for name in shown),
        affected,
        sure=False,
    )


def _farthest(members: dict[str, DeviceChecksums], reference: tuple[float, ...]) -> tuple[str, ...]:
    """Return the one of two devices whose losses are much farther from the CPU's; empty if undecided."""
    distances = {
        name: max((abs(here - there) for here, there in zip(device.losses, reference, strict=False)), default=0.0)
        for name, device in members.items()
    }
    near, *others = sorted(distances, key=lambda name: distances[name])
    return (others[0],) if len(others) == 1 and distances[others[0]] > FARTHER * distances[near] else ()


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
        context: what is known about the machine.
        gpu: whether the device is a GPU.
    """
    yield NEW_ENVIRONMENT
    yield Fix.look(
        "Repeat it without options that trade exactness for speed",
        "env -u XLA_FLAGS -u TF_FP16_CONV_USE_FP32_COMPUTE gpucheck --full",
    )
    if gpu:
        yield TEST_GPU
