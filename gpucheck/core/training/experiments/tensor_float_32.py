"""What TensorFloat-32 costs and brings: float32 products whose factors the GPU rounds to 11 bits unless configured not to."""

from __future__ import annotations

from gpucheck.core.child.experiments import NotHere, Setting
from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.child.smoke import network
from gpucheck.core.training.experiments._measure import (
    Comparison,
    finite,
    forget,
    percent,
    relative_difference,
    step_seconds,
    tf32,
)

CAPABILITY = (8, 0)  # the first with TF32: CUDA C++ Programming Guide, "Compute Capabilities"
STEPS = 6  # for the loss
BATCHES = 4  # so many times the usual batch: with less work than this the GPU waits for Python, whatever it computes in
TOLERANCE = 0.01  # relative, of the first loss: 5e-4 in every product, summed up by a small network's layers


def run(setting: Setting) -> ExperimentResult:
    """The same steps with TF32 and without, traced once: kernels are chosen when they run."""
    device = setting.devices()[0]
    require_tf32(setting, device)
    batch = BATCHES * network.batch_size(device)
    losses, seconds = measured(setting, device, batch)
    forget(setting.keras)
    return compared(device, batch, losses, seconds)


def compared(device: str, batch: int, losses: dict[bool, list[float]], seconds: dict[bool, float]) -> ExperimentResult:
    """The figures of what was measured with TF32 (True) and without (False), and the problem that they show.

    Args:
        device: where the steps were made.
        batch: samples of a step.
        losses: of each step.
        seconds: of a step.
    """
    difference = relative_difference(losses[True][0], losses[False][0])
    problem = None
    if not difference <= TOLERANCE:
        problem = (
            f"the first loss is {losses[True][0]:.4g} with TF32 and {losses[False][0]:.4g} without,"
            f" {percent(difference, TOLERANCE)} apart; up to {100 * TOLERANCE:.0f} % is rounding"
        )
    figures = {
        "batch_size": batch,
        "steps": STEPS,
        "tf32_samples_per_second": batch / seconds[True],
        "float32_samples_per_second": batch / seconds[False],
        "tf32_speedup": seconds[False] / seconds[True],
        "tf32_first_loss": losses[True][0],
        "float32_first_loss": losses[False][0],
        "first_loss_relative_difference": difference,
        "tf32_last_loss": losses[True][-1],
        "float32_last_loss": losses[False][-1],
        "last_loss_relative_difference": relative_difference(losses[True][-1], losses[False][-1]),
    }
    return ExperimentResult((device,), finite(figures), problem)


def measured(setting: Setting, device: str, batch: int) -> tuple[dict[bool, list[float]], dict[bool, float]]:
    """Losses of some steps on one batch, and seconds of a step; both with TF32 and without."""
    images, labels = network.arrays(batch)
    job = Comparison(setting, [device])
    initial = [variable.numpy() for variable in job.trainer.variables]
    kept = job.trainer.keep(next(job.feed(images, labels, batch)))
    losses, seconds = {}, {}
    for allowed in (True, False):
        with tf32(setting.tf, allowed):
            job.trainer.reset(initial)
            losses[allowed] = job.losses(job.feed(images, labels, batch), STEPS)
            seconds[allowed] = step_seconds(lambda steps: job.trainer.resident(kept, steps))
    return losses, seconds


def require_tf32(setting: Setting, device: str) -> None:
    """Raise ``NotHere`` unless the device has TF32."""
    if not device.startswith("GPU"):
        raise NotHere(f"TF32 is computed by NVIDIA GPUs, and this is {device}")
    config = setting.tf.config
    visible, logical = config.get_visible_devices("GPU"), config.list_logical_devices("GPU")
    # A GPU may be split: its logical devices follow each other, the same number for every GPU.
    number = int(setting.names[device].split(":")[1]) * len(visible) // len(logical)
    capability = config.experimental.get_device_details(visible[number]).get("compute_capability")
    if capability is None:
        raise NotHere(f"TensorFlow does not report the compute capability of {device}")
    if tuple(capability) < CAPABILITY:
        raise NotHere(f"{device} has the compute capability {'.'.join(map(str, capability))}; TF32 begins with 8.0")
