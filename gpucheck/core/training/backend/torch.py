"""PyTorch as a backend of Keras: its import, devices and placement."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from gpucheck.core.child.messages.frameworks import Device, DevicesListed

TITLE = "PyTorch"
COMPILED = False  # Keras uses torch.compile only on request


def prepare(cpu_devices: int) -> None:
    """Do nothing: PyTorch allocates memory on demand, and has one CPU device."""


def load() -> dict[str, Any]:
    """Import PyTorch; return version and build as fields of ``BackendImport``. Raises any exception of the import."""
    import torch

    return {
        "version": str(torch.__version__),
        "path": os.path.dirname(torch.__file__ or ""),
        "built_with_cuda": torch.version.cuda is not None,
        "cuda_version": torch.version.cuda,
    }


def devices() -> DevicesListed:
    """List accelerators, then the CPU; if there is no accelerator, with PyTorch's message if there is one."""
    import torch

    listed: list[Device] = []
    for index in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        major, minor = torch.cuda.get_device_capability(index)
        name = torch.cuda.get_device_name(index)
        listed.append(Device(name=f"GPU:{index}", kind="GPU", description=name, compute_capability=(major, minor)))
    metal = getattr(torch.backends, "mps", None)
    if metal is not None and metal.is_available():
        listed.append(Device(name="MPS:0", kind="MPS"))
    problem = None if listed else _why_not(torch)
    return DevicesListed((*listed, Device(name="CPU:0", kind="CPU")), problem)


def _why_not(torch: Any) -> str | None:
    """Return the error from starting CUDA, in a build with CUDA."""
    if torch.version.cuda is None:
        return None
    try:
        torch.cuda.init()
    except Exception as error:
        return " ".join(str(error).split())[:500]
    return None


def seed(number: int) -> None:
    """Seed PyTorch's generators, which dropout uses."""
    import torch

    torch.manual_seed(number)


def comparable() -> bool:
    """Whether the CPU computes the same numbers: no, a GPU draws other numbers from the same seed."""
    return False


def scope(names: list[str]) -> Any:
    """Return a context in which everything is computed on that device."""
    import keras

    return keras.device(_own(names[0]))


def data_parallel(keras: Any, names: list[str]) -> Any:
    """Return the distribution in whose scope Keras copies the model to those devices and splits every batch."""
    return keras.distribution.DataParallel(devices=[_own(name) for name in names])


def no_data_parallel(keras: Any) -> str | None:
    """Return why Keras can't train on several devices; None: it can."""
    try:
        keras.distribution.list_devices()
    except Exception:
        return f"keras.distribution of Keras {keras.__version__} does not support PyTorch, which has its own functions for it"
    return None


def places(variable: Any) -> set[str]:
    """Return the devices that hold a Keras variable."""
    device = variable.value.device
    kind = {"cuda": "GPU"}.get(device.type, device.type.upper())
    return {f"{kind}:{device.index or 0}"}


def replicas_equal(variables: Iterable[Any]) -> bool | None:
    """Return None: a variable has one copy."""
    return None


def reset_peak(names: list[str]) -> None:
    """Reset the peak."""
    import torch

    for name in names:
        if name.startswith("GPU"):
            torch.cuda.reset_peak_memory_stats(_own(name))


def peak(names: list[str]) -> int | None:
    """Return the peak bytes in use on one device since ``reset_peak``, from PyTorch's allocator; None on a CPU."""
    import torch

    return max((int(torch.cuda.max_memory_allocated(_own(name))) for name in names if name.startswith("GPU")), default=None)


def tf32() -> bool | None:
    """Whether float32 convolutions may be rounded to TF32; they are most of the smoke job's work."""
    import torch

    if not torch.cuda.is_available():
        return None
    try:
        return bool(torch.backends.cudnn.allow_tf32)
    except RuntimeError:  # PyTorch raises if the newer ``fp32_precision`` was set
        return None


def _own(name: str) -> str:
    """Return PyTorch's device name: "cuda:1". The CPU has no number: Keras 3.15 fails on "cpu:0"."""
    kind, _, number = name.lower().partition(":")
    return kind if kind in ("cpu", "mps") else f"cuda:{number}"
