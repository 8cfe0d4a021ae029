"""Shares from 0 to 1, computed from measured times: for ``gpucheck bench`` and for the experiments."""

from __future__ import annotations


def input_wait_share(step_seconds: float, resident_step_seconds: float, batch_seconds: float | None = None) -> float:
    """Share of a step on the input pipeline that it waits for input.

    Args:
        step_seconds: of a step on the pipeline.
        resident_step_seconds: of the same step on a resident batch.
        batch_seconds: of the pipeline per batch, if it was measured: no step waits longer. A larger difference is caused by other
            load on the machine.
    """
    waited = max(0.0, step_seconds - resident_step_seconds)
    if batch_seconds is not None:
        waited = min(waited, batch_seconds)
    return waited / step_seconds if step_seconds > 0 else 0.0


def scaling_efficiency(all_devices: float, one_device: float, devices: int) -> float:
    """Samples per second of several devices, divided by their number and by the samples per second of one."""
    return all_devices / (devices * one_device)
