"""Strategies: each file says what one strategy trains, and builds it in the child process. Standard library and TensorFlow only.

A file ends with ``STRATEGY``, which declares everything that others need to know of it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, NamedTuple


class Wanted(NamedTuple):
    """One job that a strategy wants to be trained."""

    devices: tuple[str, ...]
    precision: str = "float32"  # a Keras dtype policy
    compiled: bool = False  # by XLA


class Strategy(NamedTuple):
    """What a file of this folder declares."""

    level: int  # from which on it belongs to a run: 0 to 2; 3: only where it is asked for
    # Of the names of the devices, whether everything is to be proven (--full), and whether every logical CPU device is one to
    # prove: what to train, or in words why nothing.
    jobs: Callable[[list[str], bool, bool], list[Wanted] | str]
    # Of TensorFlow, the logical names of devices, and how gradients shall be exchanged (None: as TensorFlow chooses).
    build: Callable[[Any, tuple[str, ...], str | None], Any] | None
    position: int = 9  # among the strategies of a run; the same: by name
    backends: tuple[str, ...] = ("tensorflow",)  # of Keras, that train with it
    steps_per_execution: int = 1  # of ``Model.fit``, between which Python has no part
    absence_is_news: bool = True  # whether a run says so where it can't be trained
    not_in_bench: str | None = None  # why ``gpucheck bench`` does not measure it; None: it does


def load(name: str) -> Strategy:
    """A strategy by the name of its file."""
    strategy: Strategy = importlib.import_module(f"{__name__}.{name}").STRATEGY
    return strategy


def load_all() -> dict[str, Strategy]:
    """Every strategy by name, in the order of a run."""
    strategies = {item.name: load(item.name) for item in pkgutil.iter_modules(__path__)}
    return dict(sorted(strategies.items(), key=lambda item: (item[1].position, item[0])))


def build(name: str, tf: Any, devices: tuple[str, ...], cross_device: str | None = None) -> Any:
    """Build a strategy of TensorFlow's on devices, given by their logical names."""
    builder = load(name).build
    if builder is None:
        raise ValueError(f"{name} is no strategy of TensorFlow's")
    return builder(tf, devices, cross_device)
