"""The cost of XLA compilation at the start of a job, and its gain per step, from the first device's jobs with and without it.

Nothing is trained again. The job without XLA runs first, so its first step also includes the loading of libraries.
"""

from __future__ import annotations

import math

from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.training.experiments import NotHere, Setting


def run(setting: Setting) -> ExperimentResult:
    """Compare the jobs, and compute the step at which XLA's compilation pays off; omitted if XLA's steps are not faster."""
    for device in setting.devices():
        plain, compiled = (setting.passed("one_device", device=device, compiled=by_xla) for by_xla in (False, True))
        if plain is not None and compiled is not None:
            break
    else:
        raise NotHere("no device has trained in float32 both with XLA and without")
    figures: dict[str, float | None] = {}
    for prefix, job in (("", plain), ("xla_", compiled)):
        figures[f"{prefix}first_step_seconds"] = job.first_step_seconds
        figures[f"{prefix}step_seconds"] = job.step_seconds
    later = (compiled.first_step_seconds or 0.0) - (plain.first_step_seconds or 0.0)
    saved = (plain.step_seconds or 0.0) - (compiled.step_seconds or 0.0)
    if saved > 0:
        figures["break_even_steps"] = 1 + math.ceil(round(max(0.0, later) / saved, 3))
    return ExperimentResult((device,), figures)
