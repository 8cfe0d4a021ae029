"""Measure the error and speedup of TensorFloat-32: by default, the GPU rounds the factors of float32 products to 11 bits."""

from __future__ import annotations

from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.training.experiments import NotHere, Setting
from gpucheck.core.training.experiments._measure import Comparison, finite, percent, relative_difference, step_seconds, tf32
from gpucheck.core.training.smoke import network

CAPABILITY = (8, 0)  # the first with TF32: CUDA C++ Programming Guide, "Compute Capabilities"
STEPS = 6  # for the loss
BATCHES = 4  # times the smoke job's batch: with a smaller one the GPU waits for Python in any precision
TOLERANCE = 0.01  # relative to the first loss: 5e-4 per product, accumulated over a small network's layers


def run(setting: Setting) -> ExperimentResult:
    """Train the same steps with and without TF32. One trace serves both, because kernels are selected when they run."""
    device = setting.devices()[0]
    require_tf32(setting, device)
    batch = BATCHES * network.batch_size(device)
    losses, seconds = measure(setting, device, batch)
    return result_of(device, batch, losses, seconds)


def result_of(device: str, batch: int, losses: dict[bool, list[float]], seconds: dict[bool, float]) -> ExperimentResult:
    """Return the figures with (True) and without (False) TF32, and the problem if they show one.

    Args:
        device: the device that ran the steps.
        batch: samples per step.
        losses: the loss of each step.
        seconds: the time of a step.
    """
    difference = relative_difference(losses[True][0], losses[False][0])
    problem = None
    if not difference <= TOLERANCE:
        problem = (
            f"the first loss is {losses[True][0]:.4g} with TF32 and {losses[False][0]:.4g} without,"
            f" a difference of {percent(difference, TOLERANCE)}; up to {100 * TOLERANCE:.0f} % is rounding"
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


def measure(setting: Setting, device: str, batch: int) -> tuple[dict[bool, list[float]], dict[bool, float]]:
    """Return the losses of some steps on one batch, and the seconds of a step, with and without TF32."""
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
        raise NotHere(f"TF32 requires an NVIDIA GPU, and the device is {device}")
    config = setting.tf.config
    visible, logical = config.get_visible_devices("GPU"), config.list_logical_devices("GPU")
    # If GPUs are split, each has the same number of logical devices, listed in order.
    number = int(setting.names[device].split(":")[1]) * len(visible) // len(logical)
    capability = config.experimental.get_device_details(visible[number]).get("compute_capability")
    if capability is None:
        raise NotHere(f"TensorFlow does not report the compute capability of {device}")
    if tuple(capability) < CAPABILITY:
        raise NotHere(f"{device} has compute capability {'.'.join(map(str, capability))}; TF32 requires 8.0 or higher")
