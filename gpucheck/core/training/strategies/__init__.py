"""Strategies: each file plans the jobs of one strategy, and builds it in the child. Standard library and TensorFlow only.

A file ends with ``STRATEGY``, which declares all of its properties.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, NamedTuple


class PlannedJob(NamedTuple):
    """One job of a strategy."""

    devices: tuple[str, ...]
    precision: str = "float32"  # a Keras dtype policy
    compiled: bool = False  # by XLA


class Strategy(NamedTuple):
    """The properties that a file of this folder declares."""

    level: int  # minimum level of a run that includes it: 0 to 2; 3: only on request
    # Called with TensorFlow, logical device names, and the method to exchange gradients (None: TensorFlow's default).
    build: Callable[[Any, tuple[str, ...], str | None], Any] | None
    # Called with device names, whether to test everything (--full), and whether to test every logical CPU device. Returns the
    # jobs to train, or the reason for none. By default there are none in this process: the strategy trains in other processes.
    jobs: Callable[[list[str], bool, bool], list[PlannedJob] | str] = lambda devices, full, every: []
    position: int = 9  # order in a run; ties are sorted by name
    backends: tuple[str, ...] = ("tensorflow",)  # Keras backends that support it
    steps_per_execution: int = 1  # of ``Model.fit``, run without returning to Python
    report_if_skipped: bool = True  # whether a run reports the strategy as skipped if it can't be trained
    not_in_bench: str | None = None  # why ``gpucheck bench`` does not measure it; None: it does


def load(name: str) -> Strategy:
    """Load a strategy by the name of its file."""
    strategy: Strategy = importlib.import_module(f"{__name__}.{name}").STRATEGY
    return strategy


def load_all() -> dict[str, Strategy]:
    """Load every strategy, by name, in the order of a run."""
    strategies = {item.name: load(item.name) for item in pkgutil.iter_modules(__path__)}
    return dict(sorted(strategies.items(), key=lambda item: (item[1].position, item[0])))


def build(name: str, tf: Any, devices: tuple[str, ...], cross_device: str | None = None) -> Any:
    """Build a TensorFlow strategy on devices, given by their logical names."""
    builder = load(name).build
    if builder is None:
        raise ValueError(f"{name} is not a TensorFlow strategy")
    return builder(tf, devices, cross_device)
