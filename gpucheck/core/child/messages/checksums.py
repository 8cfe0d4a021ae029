"""Messages about repeated computations and the checksums of their results."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message
from gpucheck.core.child.messages.struct import Struct, field


class DeviceChecksums(Struct, frozen=True, kw_only=True):
    """Computations that were repeated on one device, in order, and whether their results had the same bits each time."""

    device: str  # "GPU:0"
    model: str | None  # "NVIDIA H200", "CPU"; only devices of the same model are compared; None: unknown
    rounds: int  # how many times each was computed
    seconds: float  # of all rounds
    checksums: dict[str, str]  # computation -> CRC-32 of the bits of its first result: "float32 step 2 gradients"
    losses: tuple[float, ...] = ()  # of the float32 steps
    unstable: dict[str, int] = field(default_factory=dict)  # computation -> rounds whose bits differ from the first one's
    wrong: dict[str, float] = field(default_factory=dict)  # computation with a known result -> largest difference from it
    unavailable: dict[str, str] = field(default_factory=dict)  # computation -> why this device can't do it


class Checksums(Message):
    """The checksums of all devices; with ``reference`` if devices of one model differ."""

    stage: ClassVar[str] = "checksums"
    devices: tuple[DeviceChecksums, ...]
    reference: tuple[float, ...] = ()  # the losses of the float32 steps on the CPU
    problem: str | None = None  # why there are none
