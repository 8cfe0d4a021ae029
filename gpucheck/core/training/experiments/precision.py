"""Compare precisions on the first device: the effect of 16 bits and of loss scaling on the loss.

Seed, data and steps are the same, so the losses differ only by rounding. With mixed_float16, Keras multiplies the loss by a
dynamic scale; it skips a step whose gradients overflow, and halves the scale.
"""

from __future__ import annotations

import time
from typing import Any

from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.training.experiments import Setting
from gpucheck.core.training.experiments._measure import Comparison, finite, percent, relative_difference
from gpucheck.core.training.smoke import network, proof

STEPS = 4
CPU_BATCH = 4  # a CPU emulates float16: about 30 ms per sample
# Relative to the first loss: float16 rounds to 11 bits (5e-4), bfloat16 to 8 (4e-3), and the layers of a small network
# accumulate less than twenty and twelve times that. Measured on a CPU: 6e-5 and 6e-4.
TOLERANCE = {"mixed_float16": 0.01, "mixed_bfloat16": 0.05}


def run(setting: Setting) -> ExperimentResult:
    """Train a few steps in each precision, and compare with float32."""
    device = setting.devices()[0]
    batch = CPU_BATCH if device.startswith("CPU") else network.batch_size(device)
    losses, more = _trained(setting, device, "float32", batch)
    figures: dict[str, Any] = {"batch_size": batch, "steps": STEPS, **more}
    problems = []
    for precision, tolerance in TOLERANCE.items():
        measured, more = _trained(setting, device, precision, batch)
        difference = relative_difference(measured[0], losses[0])
        figures.update(more)
        figures[f"{precision}_first_loss_relative_difference"] = difference
        figures[f"{precision}_last_loss_relative_difference"] = relative_difference(measured[-1], losses[-1])
        speedup = _speedup(setting, device, precision)
        if speedup is None and device.startswith("CPU"):  # CPU jobs train in float32 only
            speedup = figures["float32_step_seconds"] / more[f"{precision}_step_seconds"]
        figures[f"{precision}_training_speedup"] = speedup
        skipped = more[f"{precision}_skipped_steps"]
        if not difference <= tolerance:
            problems.append(
                f"the first loss is {measured[0]:.4g} in {precision} and {losses[0]:.4g} in float32,"
                f" a difference of {percent(difference, tolerance)}; up to {100 * tolerance:.0f} % is rounding"
            )
        elif skipped > STEPS // 2:
            problems.append(f"loss scaling skipped {skipped} of {STEPS} steps in {precision}: the gradients overflow")
    return ExperimentResult((device,), finite(figures), "; ".join(problems) or None)


def _trained(setting: Setting, device: str, precision: str, batch: int) -> tuple[list[float], dict[str, Any]]:
    """Return the losses of some steps on one batch, and figures for the report."""
    job = Comparison(setting, [device], precision=precision)
    source = job.feed(*network.arrays(batch), batch)
    losses = job.losses(source, 1)  # traces and compiles
    began = time.perf_counter()
    losses += job.losses(source, STEPS - 1)
    figures = {f"{precision}_step_seconds": (time.perf_counter() - began) / (STEPS - 1)}
    figures.update({f"{precision}_first_loss": losses[0], f"{precision}_last_loss": losses[-1]})
    if precision != "float32":
        figures[f"{precision}_skipped_steps"] = STEPS - int(job.model.optimizer.iterations)
        scale = proof.loss_scale(job.model.optimizer)
        figures.update({} if scale is None else {f"{precision}_loss_scale": float(scale)})
    return losses, figures


def _speedup(setting: Setting, device: str, precision: str) -> float | None:
    """Return the samples per second relative to float32, as measured by the training jobs; None if unmeasured."""
    jobs = [setting.passed("one_device", 1, name, device) for name in (precision, "float32")]
    rates = [job.samples_per_second for job in jobs if job is not None and job.samples_per_second]
    return rates[0] / rates[1] if len(rates) == 2 else None
