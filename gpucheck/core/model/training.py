"""Experiments, as measured in child processes."""

import msgspec


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """An additional experiment (a file of ``gpucheck/core/training/experiments``) and its measurements."""

    name: str
    status: str  # "passed" | "failed" | "skipped" | "timed_out"
    reason: str | None = None  # why it did not pass, in one sentence
    devices: tuple[str, ...] = ()
    figures: dict[str, float | None] = msgspec.field(default_factory=dict)  # units in the names; None: unknown
    note: str | None = None  # an observation that is not a figure, in one sentence
