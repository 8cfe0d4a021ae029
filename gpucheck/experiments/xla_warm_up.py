"""What compiling by XLA costs a job at its start and saves at each step: from the first device's jobs with it and without.

Nothing is trained again. The first job on a device loads its libraries too, and the one without XLA is the first.
"""

from __future__ import annotations

import math
from typing import Any

from gpucheck.child.experiments import NotHere, Setting

_LIKENESS = ("strategy", "devices", "precision", "compiled", "status")


def run(setting: Setting) -> dict[str, Any]:
    """Compare, and count the steps after which XLA has earned its start back; no such figure where its steps are no faster."""
    for device in setting.devices():
        plain, compiled = (_job(setting, device, by_xla) for by_xla in (False, True))
        if plain is not None and compiled is not None:
            break
    else:
        raise NotHere("no device has trained in float32 both with XLA and without")
    names = ("first_step_seconds", "step_seconds")
    figures = {f"{prefix}{name}": job[name] for prefix, job in (("", plain), ("xla_", compiled)) for name in names}
    later, saved = compiled[names[0]] - plain[names[0]], plain[names[1]] - compiled[names[1]]
    if saved > 0:
        figures["break_even_steps"] = 1 + math.ceil(round(max(0.0, later) / saved, 3))
    return {"devices": [device], "figures": figures}


def _job(setting: Setting, device: str, compiled: bool) -> dict[str, Any] | None:
    wanted = ("one_device", [device], "float32", compiled, "passed")
    jobs = (run for run in setting.runs if tuple(run[key] for key in _LIKENESS) == wanted)
    return next(jobs, None)
