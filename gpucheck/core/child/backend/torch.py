"""PyTorch below Keras: its devices, where it computes, what it needs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from gpucheck.core.child.messages.frameworks import BackendImport, Device, DevicesListed

TITLE = "PyTorch"
COMPILED = False  # Keras compiles with torch.compile only when it is told to


def prepare(cpu_devices: int) -> None:
    """Nothing: PyTorch takes memory as it needs it, and has one CPU device."""


def load(source: str) -> BackendImport:
    """Import it, which ``source`` says why; its version and build. Raises what the import raises."""
    import torch

    return BackendImport(
        name="torch",
        source=source,
        imported=True,
        version=str(torch.__version__),
        path=os.path.dirname(torch.__file__ or ""),
        built_with_cuda=torch.version.cuda is not None,
        cuda_version=torch.version.cuda,
    )


def devices() -> DevicesListed:
    """Accelerators first, then the CPU; and why there is no accelerator, in PyTorch's words, if it says so."""
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
    """What the start of CUDA comes to, in a build that has it."""
    if torch.version.cuda is None:
        return None
    try:
        torch.cuda.init()
    except Exception as error:
        return " ".join(str(error).split())[:500]
    return None


def seed(number: int) -> None:
    """Dropout draws from PyTorch's own generators."""
    import torch

    torch.manual_seed(number)


def comparable() -> bool:
    """Whether the CPU can be asked for the same numbers: no, a GPU draws others from the same seed."""
    return False


def scope(names: list[str]) -> Any:
    """A context in which everything is computed on that device."""
    import keras

    return keras.device(_own(names[0]))


def data_parallel(keras: Any, names: list[str]) -> Any:
    """The distribution in whose scope Keras copies the model to those devices and splits every batch."""
    return keras.distribution.DataParallel(devices=[_own(name) for name in names])


def no_data_parallel(keras: Any) -> str | None:
    """Why Keras can't train on several devices; None: it can."""
    try:
        keras.distribution.list_devices()
    except Exception:
        return f"keras.distribution of Keras {keras.__version__} does not know PyTorch, which has functions of its own for it"
    return None


def places(variable: Any) -> set[str]:
    """The devices that hold a Keras variable."""
    device = variable.value.device
    kind = {"cuda": "GPU"}.get(device.type, device.type.upper())
    return {f"{kind}:{device.index or 0}"}


def replicas_equal(variables: Iterable[Any]) -> bool | None:
    """None: a variable has one copy."""
    return None


def reset_peak(names: list[str]) -> None:
    """Begin to count the peak anew."""
    import torch

    for name in names:
        if name.startswith("GPU"):
            torch.cuda.reset_peak_memory_stats(_own(name))


def peak(names: list[str]) -> int | None:
    """Most bytes in use at once on one device since ``reset_peak``, as PyTorch's allocator counts; None on a CPU."""
    import torch

    return max((int(torch.cuda.max_memory_allocated(_own(name))) for name in names if name.startswith("GPU")), default=None)


def tf32() -> bool | None:
    """Whether float32 convolutions may be rounded to TF32; they are most of the smoke job's work."""
    import torch

    if not torch.cuda.is_available():
        return None
    try:
        return bool(torch.backends.cudnn.allow_tf32)
    except RuntimeError:  # somebody chose by the newer ``fp32_precision``, and PyTorch refuses to say it in the old way
        return None


def _own(name: str) -> str:
    """PyTorch's name: "cuda:1". Its CPU has no number: Keras 3.15 fails on "cpu:0"."""
    kind, _, number = name.lower().partition(":")
    return kind if kind in ("cpu", "mps") else f"cuda:{number}"
