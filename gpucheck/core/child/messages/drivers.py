"""Messages common to the children that query NVIDIA's driver through NVML or libcuda."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message
from gpucheck.core.child.messages.struct import Struct


class LibraryLoaded(Message):
    """Whether the driver's library opened."""

    stage: ClassVar[str] = "load"
    status: str  # "loaded", "library-not-found", "library-unusable"
    library: str | None = None  # path of its file
    problem: str | None = None  # the loader's message


class Failure(Struct):
    """An error of the driver; all None: no error."""

    result: int | None = None  # nvmlReturn_t or CUresult
    result_name: str | None = None  # "NVML_ERROR_DRIVER_NOT_LOADED"
    problem: str | None = None


class DriverStarted(Failure, Message):
    """The result of nvmlInit or cuInit."""

    stage: ClassVar[str] = "init"
