"""Test whether memory is released: the smoke network is trained and cleared (``clear_session``) repeatedly."""

from __future__ import annotations

import os
from typing import Any

from gpucheck.core.child.messages.training import ExperimentResult
from gpucheck.core.training.experiments import NotHere, Setting
from gpucheck.core.training.experiments._measure import forget
from gpucheck.core.training.smoke import memory, network
from gpucheck.core.training.smoke.tensorflow import train_briefly

ROUNDS = 3  # the first round creates what a process keeps (kernels, algorithms, thread pools); growth is counted after it
STEPS = 3
# Memory is never released completely: TensorFlow 2.21 with Keras 3.15 keeps the functions that it traced for a model, with its
# variables, and malloc keeps pages. Measured over 16 rounds on a CPU: 12 to 32 MB per round, without an upper bound. Measured on
# an H100: 1.05 and 1.07 models per round, whose peak was 28 to 29 models above the use before the round.
HOST_TOLERANCE = 64 << 20  # bytes per round
DEVICE_TOLERANCE = 2  # models per round


class HostMemory:
    """Resident memory of this process, as the kernel reports it, in bytes."""

    def __init__(self) -> None:
        """Raise ``NotHere`` if the kernel does not report it."""
        try:
            self.current()
        except OSError as error:
            raise NotHere(f"the kernel does not report this process' memory: {error}") from None
        self.peak_known = False

    def reset(self) -> None:
        """Reset the peak (proc(5), /proc/pid/clear_refs: 5)."""
        try:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")
            self.peak_known = True
        except OSError:
            self.peak_known = False

    def current(self) -> int:
        """Return the current resident size."""
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def peak(self) -> int | None:
        """Return the highest resident size since ``reset``; None if it can't be determined."""
        with open("/proc/self/status") as file:
            peaks = [int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM:")]
        return peaks[0] if peaks and self.peak_known else None


class DeviceMemory:
    """Memory of one device, as TensorFlow's allocator counts it. Bytes."""

    def __init__(self, tf: Any, device: str) -> None:
        """Raise ``NotHere`` if TensorFlow does not count it; ``device`` is a logical name."""
        self._tf, self._devices = tf, [device]
        if memory.current(tf, self._devices) is None:
            raise NotHere(f"TensorFlow does not count the memory of {device}")

    def reset(self) -> None:
        """Reset the peak."""
        memory.reset(self._tf, self._devices)

    def current(self) -> int:
        """Return the current use."""
        return memory.current(self._tf, self._devices) or 0

    def peak(self) -> int | None:
        """Return the highest use since ``reset``."""
        return memory.peak(self._tf, self._devices)


def run(setting: Setting) -> ExperimentResult:
    """Train, clear and measure memory, three times."""
    device = setting.devices()[0]
    logical = setting.names[device]
    on_host = logical.startswith("CPU")
    watched = HostMemory() if on_host else DeviceMemory(setting.tf, logical)
    before = watched.current()
    used_bytes, peaks, model_bytes = [], [], 0
    for _ in range(ROUNDS):
        watched.reset()
        model_bytes = _trained(setting, logical, network.batch_size(device))
        forget(setting.keras)
        peaks.append(watched.peak())
        used_bytes.append(watched.current())
    tolerance = HOST_TOLERANCE if on_host else DEVICE_TOLERANCE * model_bytes
    figures: dict[str, Any] = {"model_bytes": model_bytes, "held_before_bytes": before}
    for number in range(ROUNDS):
        figures[f"held_after_round_{number + 1}_bytes"] = used_bytes[number]
        figures[f"peak_of_round_{number + 1}_bytes"] = peaks[number]
    figures["least_growth_of_a_round_bytes"] = _least_growth(used_bytes)
    figures["tolerated_growth_of_a_round_bytes"] = tolerance
    return ExperimentResult((device,), figures, leak(device, used_bytes, tolerance))


def leak(device: str, used_bytes: list[int], tolerance: int) -> str | None:
    """Return the problem if every round leaks more than the tolerance, in bytes; else None."""
    least = _least_growth(used_bytes)
    if least <= tolerance:
        return None
    return (
        f"memory is not released on {device}: each model that is trained and cleared leaves {least / 2**20:.0f} MiB or more,"
        f" and up to {tolerance / 2**20:.0f} MiB is usual"
    )


def _least_growth(used_bytes: list[int]) -> int:
    """Return the smallest growth, in bytes, of the rounds after the first: growth in a single round is not a leak."""
    return min(used_bytes[place + 1] - used_bytes[place] for place in range(len(used_bytes) - 1))


def _trained(setting: Setting, logical: str, batch: int) -> int:
    """Train the network; return the bytes of its weights and of the optimizer's state."""
    model, _ = train_briefly(setting.tf, setting.keras, logical, batch, STEPS)
    return sum(variable.numpy().nbytes for variable in [*model.variables, *model.optimizer.variables])
