"""Messages of the child that queries libcuda."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message, Task
from gpucheck.core.child.messages.drivers import Failure
from gpucheck.core.child.messages.struct import Struct


class CudaTask(Task):
    """Query libcuda about the devices."""

    child: ClassVar[str] = "cuda"


class CudaVersion(Message):
    """The CUDA version that libcuda implements."""

    stage: ClassVar[str] = "version"
    number: int | None = None  # as NVIDIA numbers it: 13000


class CudaCount(Failure, Message):
    """How many devices CUDA counts."""

    stage: ClassVar[str] = "count"
    count: int | None = None


class CudaDevice(Struct, frozen=True, kw_only=True):
    """One device in CUDA's order, after CUDA_VISIBLE_DEVICES."""

    ordinal: int
    name: str | None = None
    pci_address: str | None = None  # "0000:00:06.0", as in gpus
    compute_capability: tuple[int, int] | None = None
    memory_total_bytes: int | None = None
    multiprocessors: int | None = None


class CudaDevices(Message):
    """Each device, as CUDA reports it."""

    stage: ClassVar[str] = "devices"
    devices: tuple[CudaDevice, ...]


class CudaPeers(Message):
    """Pairs of ordinals, (0, 3): the first can't access the second's memory; None: not reported by the driver."""

    stage: ClassVar[str] = "peers"
    missing: tuple[tuple[int, int], ...] | None = None
