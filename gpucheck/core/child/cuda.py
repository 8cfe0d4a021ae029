"""Direct queries to libcuda: initialize it, and count and describe its devices. No context is created.

Numbers of functions and attributes: cuda.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
from typing import Any

from gpucheck.core.child.loader import load
from gpucheck.core.child.messages.drivers import (
    CudaCount,
    CudaDevice,
    CudaDevices,
    CudaPeers,
    CudaTask,
    CudaVersion,
    DriverStarted,
    Failure,
    LibraryLoaded,
)
from gpucheck.core.child.runtime import Reporter

LIBRARIES = {"linux": "libcuda.so.1", "win32": "nvcuda.dll"}

MULTIPROCESSOR_COUNT, CAPABILITY_MAJOR, CAPABILITY_MINOR = 16, 75, 76  # CUdevice_attribute


def run(reporter: Reporter, task: CudaTask) -> None:
    """Report the results of libcuda; stop at the first stage that fails."""
    reporter.begin(LibraryLoaded)
    cuda, loaded = load(LIBRARIES, "cuInit")
    reporter.end(loaded)
    if cuda is None:
        return
    reporter.begin(CudaVersion)
    reporter.end(CudaVersion(_number(cuda, "cuDriverGetVersion")))
    reporter.begin(DriverStarted)
    failure = _failure(cuda, cuda.cuInit(0))
    reporter.end(DriverStarted(failure))
    if failure.result:
        return
    reporter.begin(CudaCount)
    count = ctypes.c_int()
    failure = _failure(cuda, cuda.cuDeviceGetCount(ctypes.byref(count)))
    number = None if failure.result else count.value
    reporter.end(CudaCount(failure, number))
    if number is None:
        return
    reporter.begin(CudaDevices)
    reporter.end(CudaDevices(tuple(_device(cuda, ordinal) for ordinal in range(number))))
    if number > 1:
        reporter.begin(CudaPeers)
        reporter.end(CudaPeers(_missing_peers(cuda, number)))


def _failure(cuda: Any, result: int) -> Failure:
    """Return the failure that a CUresult stands for; an empty one for 0."""
    if result == 0:
        return Failure()
    text = ctypes.c_char_p()
    with contextlib.suppress(AttributeError):
        cuda.cuGetErrorName(result, ctypes.byref(text))
    name = text.value.decode("ascii", "replace") if text.value else None  # stubs of the driver return no names
    return Failure(result, name, name or f"CUDA result {result}")


def _device(cuda: Any, ordinal: int) -> CudaDevice:
    """Describe one device; a property that can't be queried is None."""
    device = _number(cuda, "cuDeviceGet", ordinal)
    if device is None:
        return CudaDevice(ordinal=ordinal)
    major, minor, multiprocessors = (
        _number(cuda, "cuDeviceGetAttribute", attribute, device)
        for attribute in (CAPABILITY_MAJOR, CAPABILITY_MINOR, MULTIPROCESSOR_COUNT)
    )
    return CudaDevice(
        ordinal=ordinal,
        name=_text(cuda, "cuDeviceGetName", device),
        pci_address=_text(cuda, "cuDeviceGetPCIBusId", device),
        compute_capability=None if major is None or minor is None else (major, minor),
        memory_total_bytes=_number(cuda, "cuDeviceTotalMem_v2", device, kind=ctypes.c_size_t),
        multiprocessors=multiprocessors,
    )


def _missing_peers(cuda: Any, count: int) -> tuple[tuple[int, int], ...] | None:
    """Return pairs of ordinals, the first of which can't access the second's memory; None if the driver does not report it."""
    handles = [_number(cuda, "cuDeviceGet", ordinal) for ordinal in range(count)]
    missing = []
    for (ordinal, device), (peer, other) in itertools.permutations(enumerate(handles), 2):
        allowed = None if device is None or other is None else _number(cuda, "cuDeviceCanAccessPeer", device, other)
        if allowed is None:
            return None
        if not allowed:
            missing.append((ordinal, peer))
    return tuple(missing)


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
    """Return a device's free and total memory, in bytes; None if the driver does not report it.

    Only for a process that uses the device anyway: the query needs the device's primary context, and creates it if missing.
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
