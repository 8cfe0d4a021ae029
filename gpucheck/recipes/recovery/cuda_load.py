#!/usr/bin/env python3
# Test the memory of every GPU, and the paths between the GPUs, through the driver alone, without TensorFlow.
"""Load every GPU through the driver alone: python3 cuda_load.py [SECONDS]. The GPUs must be idle.

On all GPUs at the same time, it fills nine tenths of the free memory with a pattern, copies it from block to block, reads it back
and compares it. Then it copies from each GPU to the next, and compares there. This tests memory, copies and the paths between
GPUs, but not arithmetic. Exit code 0: no error; 1: a GPU failed or could not be compared (see the last line); 3: the driver could
not be used.
"""

import ctypes
import itertools
import sys
import threading
import time
from typing import Any

BLOCK, PIECE = 1 << 28, 1 << 26  # bytes of each allocation, and of each read
PATTERNS = (0x00000000, 0xFFFFFFFF, 0xAAAAAAAA, 0x55555555)
MEMCMP = ctypes.CDLL(None).memcmp
COPIES = 20  # rounds of copies from block to block for each pattern


class Failed(Exception):
    """A call failed, or memory changed."""


def call(cuda: ctypes.CDLL, name: str, *arguments: Any) -> None:
    """Call a function of the driver; raise Failed if it does not return 0."""
    result = getattr(cuda, name)(*arguments)
    if result:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(result, ctypes.byref(text))
        raise Failed(f"{name}: {(text.value or b'').decode() or result}")


def number(cuda: ctypes.CDLL, name: str, *arguments: Any, kind: Any = ctypes.c_int) -> int:
    """Return what the function writes to its first argument."""
    out = kind()
    call(cuda, name, ctypes.byref(out), *arguments)
    return int(out.value)


def words(error: Exception) -> str:
    """Describe the failure; a MemoryError has no text."""
    return str(error) if isinstance(error, Failed) else f"was not compared: {type(error).__name__} {error}".rstrip()


class Gpu:
    """One GPU with its memory."""

    def __init__(self, cuda: ctypes.CDLL, ordinal: int) -> None:
        """Create the context."""
        self.cuda, self.ordinal = cuda, ordinal
        self.blocks: list[ctypes.c_uint64] = []
        self.bytes = 0  # compared
        self.problem: str | None = None
        device = number(cuda, "cuDeviceGet", ordinal)
        self.context = ctypes.c_void_p(number(cuda, "cuDevicePrimaryCtxRetain", device, kind=ctypes.c_void_p))

    def allocate(self) -> None:
        """Allocate nine tenths of the free memory."""
        self.enter()
        free = number(self.cuda, "cuMemGetInfo_v2", ctypes.byref(ctypes.c_size_t()), kind=ctypes.c_size_t)
        while len(self.blocks) < max(2, free * 9 // 10 // BLOCK):
            out = ctypes.c_uint64()
            call(self.cuda, "cuMemAlloc_v2", ctypes.byref(out), ctypes.c_size_t(BLOCK))
            self.blocks.append(out)

    def enter(self) -> None:
        """Make this GPU's context current in this thread."""
        call(self.cuda, "cuCtxSetCurrent", self.context)

    def work(self, end: float) -> None:
        """Fill and compare until the end, at least once."""
        try:
            self.enter()
            for pattern in itertools.cycle(PATTERNS):
                self.fill(pattern)
                self.compare(pattern, self.blocks)
                if time.monotonic() >= end:
                    return
        except Exception as error:  # a thread's exception would be lost, and the GPU would pass
            self.problem = words(error)

    def fill(self, pattern: int) -> None:
        """Write the pattern to the first block, and copy it from block to block."""
        call(self.cuda, "cuMemsetD32_v2", self.blocks[0], ctypes.c_uint(pattern), ctypes.c_size_t(BLOCK // 4))
        for _ in range(COPIES):
            for source, target in itertools.pairwise(self.blocks):
                call(self.cuda, "cuMemcpyDtoD_v2", target, source, ctypes.c_size_t(BLOCK))
        call(self.cuda, "cuCtxSynchronize")

    def compare(self, pattern: int, blocks: list[ctypes.c_uint64]) -> None:
        """Read blocks back; raise Failed if they differ from the pattern."""
        read, expected = ctypes.create_string_buffer(PIECE), pattern.to_bytes(4, "little") * (PIECE // 4)
        for block in blocks:
            for start in range(0, BLOCK, PIECE):
                call(self.cuda, "cuMemcpyDtoH_v2", read, ctypes.c_uint64(block.value + start), ctypes.c_size_t(PIECE))
                if MEMCMP(read, expected, ctypes.c_size_t(PIECE)):  # without the interpreter's lock, unlike bytes
                    raise Failed(f"memory differs from the pattern {pattern:#010x} that was written to it")
                self.bytes += PIECE

    def send(self, other: "Gpu") -> None:
        """Copy a block to another GPU, and compare it there."""
        try:
            pattern = 0x5A5A0000 + self.ordinal
            self.enter()
            call(self.cuda, "cuMemsetD32_v2", self.blocks[0], ctypes.c_uint(pattern), ctypes.c_size_t(BLOCK // 4))
            size = ctypes.c_size_t(BLOCK)
            call(self.cuda, "cuMemcpyPeer", other.blocks[1], other.context, self.blocks[0], self.context, size)
            call(self.cuda, "cuCtxSynchronize")
            other.enter()
            other.compare(pattern, other.blocks[1:2])
        except Exception as error:
            self.problem = f"to GPU {other.ordinal}: {words(error)}"


def main() -> int:
    """Return the exit code."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        call(cuda, "cuInit", 0)
        gpus = [Gpu(cuda, ordinal) for ordinal in range(number(cuda, "cuDeviceGetCount"))]
        for gpu in gpus:
            gpu.allocate()
    except (OSError, AttributeError, Failed) as error:
        print(f"the driver can't be used: {error}")
        return 3
    if not gpus:
        print("no GPU")
        return 3
    end = time.monotonic() + seconds
    threads = [threading.Thread(target=gpu.work, args=(end,)) for gpu in gpus]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for gpu, other in itertools.pairwise([*gpus, gpus[0]]):
        if gpu is not other and gpu.problem is None and other.problem is None:
            gpu.send(other)
    for gpu in gpus:
        if gpu.problem is None and not gpu.bytes:
            gpu.problem = "was not compared"
    failed = [f"GPU {gpu.ordinal} {gpu.problem}" for gpu in gpus if gpu.problem is not None]
    print("; ".join(failed) or f"{sum(gpu.bytes for gpu in gpus) / 1e9:.4g} GB of {len(gpus)} GPUs compared, without an error")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
