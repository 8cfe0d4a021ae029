"""The second witness: libcuda, asked directly. It initialises, counts and describes; no context is created.

Stages: load, version, init, count, devices, peers. Numbers of functions and attributes: cuda.h.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

from gpucheck.child.loader import load

LIBRARIES = {"linux": "libcuda.so.1", "win32": "nvcuda.dll"}

MULTIPROCESSOR_COUNT, CAPABILITY_MAJOR, CAPABILITY_MINOR = 16, 75, 76  # CUdevice_attribute

# For drivers without cuGetErrorName (before CUDA 6).
NAMES = {
    3: "CUDA_ERROR_NOT_INITIALIZED",
    34: "CUDA_ERROR_STUB_LIBRARY",
    100: "CUDA_ERROR_NO_DEVICE",
    101: "CUDA_ERROR_INVALID_DEVICE",
    802: "CUDA_ERROR_SYSTEM_NOT_READY",
    803: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
    804: "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
    999: "CUDA_ERROR_UNKNOWN",
}


def run(stages: Any, args: list[str]) -> None:
    """Report what libcuda says; the first stage that fails is the last."""
    stages.begin("load")
    cuda, account = load(LIBRARIES, "cuInit")
    stages.end("load", account)
    if cuda is None:
        return
    stages.begin("version")
    stages.end("version", _number(cuda, "cuDriverGetVersion"))
    stages.begin("init")
    result = cuda.cuInit(0)
    stages.end("init", _account(cuda, result))
    if result:
        return
    stages.begin("count")
    count = ctypes.c_int()
    result = cuda.cuDeviceGetCount(ctypes.byref(count))
    stages.end("count", dict(_account(cuda, result), count=None if result else count.value))
    if result:
        return
    stages.begin("devices")
    stages.end("devices", [_device(cuda, ordinal) for ordinal in range(count.value)])
    if count.value > 1:
        stages.begin("peers")
        stages.end("peers", _strangers(cuda, count.value))


def _account(cuda: Any, result: int) -> dict[str, Any]:
    if result == 0:
        return {}
    text = ctypes.c_char_p()
    with contextlib.suppress(AttributeError):
        cuda.cuGetErrorName(result, ctypes.byref(text))
    name = text.value.decode("ascii", "replace") if text.value else NAMES.get(result)
    return {"result": result, "result_name": name, "problem": name or f"CUDA result {result}"}


def _device(cuda: Any, ordinal: int) -> dict[str, Any]:
    """One device; what it does not answer is None."""
    device = _number(cuda, "cuDeviceGet", ordinal)
    if device is None:
        return {"ordinal": ordinal}
    major, minor, multiprocessors = (
        _number(cuda, "cuDeviceGetAttribute", attribute, device)
        for attribute in (CAPABILITY_MAJOR, CAPABILITY_MINOR, MULTIPROCESSOR_COUNT)
    )
    return {
        "ordinal": ordinal,
        "name": _text(cuda, "cuDeviceGetName", device),
        "pci_address": _text(cuda, "cuDeviceGetPCIBusId", device),
        "compute_capability": None if major is None or minor is None else [major, minor],
        "memory_total_bytes": _number(cuda, "cuDeviceTotalMem_v2", device, kind=ctypes.c_size_t),
        "multiprocessors": multiprocessors,
    }


def _strangers(cuda: Any, count: int) -> list[list[int]] | None:
    """Pairs of ordinals of which the first can't access the second's memory; None if the driver does not say."""
    handles = [_number(cuda, "cuDeviceGet", ordinal) for ordinal in range(count)]
    found = []
    for ordinal, device in enumerate(handles):
        for peer, other in enumerate(handles):
            if ordinal != peer:
                allowed = None if device is None or other is None else _number(cuda, "cuDeviceCanAccessPeer", device, other)
                if allowed is None:
                    return None
                if not allowed:
                    found.append([ordinal, peer])
    return found


def _number(cuda: Any, function: str, *args: int, kind: Any = ctypes.c_int) -> int | None:
    out = kind()
    try:
        result = getattr(cuda, function)(ctypes.byref(out), *args)
    except AttributeError:
        return None
    return None if result else int(out.value)


def _text(cuda: Any, function: str, device: int) -> str | None:
    out = ctypes.create_string_buffer(256)
    try:
        result = getattr(cuda, function)(out, len(out), device)
    except AttributeError:
        return None
    return None if result else out.value.decode("utf-8", "replace")


def memory(cuda: Any, ordinal: int) -> tuple[int, int] | None:
    """What nobody has taken of a device's memory, and all of it; None if the driver does not say. Bytes.

    Only for a process that uses the device anyway: the answer takes the device's primary context, which is made if there is none.
    """
    device, context = _number(cuda, "cuDeviceGet", ordinal), ctypes.c_void_p()
    if device is None:
        return None
    try:
        if cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device):
            return None
        try:
            if cuda.cuCtxPushCurrent_v2(context):
                return None
            free, total = ctypes.c_size_t(), ctypes.c_size_t()
            result = cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total))
            cuda.cuCtxPopCurrent_v2(ctypes.byref(context))
        finally:
            cuda.cuDevicePrimaryCtxRelease_v2(device)
    except AttributeError:  # an older driver
        return None
    return None if result else (int(free.value), int(total.value))
