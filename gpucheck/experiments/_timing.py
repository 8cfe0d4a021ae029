"""What experiments that time training steps share: how many steps a measurement takes, and one step's seconds out of it."""

from __future__ import annotations

import statistics
from collections.abc import Callable

MEASUREMENT_SECONDS = 0.2
LEAST_STEPS, MOST_STEPS = 2, 40
REPEATS = 3
SLOW_SECONDS = 0.1  # of a step; a longer one varies less, and one measurement of it has to do


def measurements(seconds: float) -> tuple[int, int]:
    """How many measurements of how many steps each, for steps of about that many seconds."""
    steps = max(LEAST_STEPS, min(MOST_STEPS, round(MEASUREMENT_SECONDS / max(seconds, 1e-6))))
    return (1 if seconds > SLOW_SECONDS else REPEATS), steps


def step_seconds(timed: Callable[[int], float], warmup: int = 2) -> float:
    """Seconds of one step: the median of some measurements.

    Args:
        timed: takes a number of steps, and gives the seconds of all of them.
        warmup: steps before, which trace, and take away what a pipeline has prepared meanwhile.
    """
    timed(warmup)
    repeats, steps = measurements(timed(1))
    return statistics.median(timed(steps) / steps for _ in range(repeats))
