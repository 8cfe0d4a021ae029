"""Read the GPU code and the ELF requirements of a shared library in a wheel. No GPU or CUDA tool is used.

A fat binary is a header (magic, version, header size, size), then entries: PTX or machine code for one compute capability. The
entries' headers are readable even if their content is compressed. nvcc puts fat binaries into the section .nv_fatbin, and XLA
and MLIR embed them in .rodata, so the whole file is searched, except __nv_relfatbin: its code (NCCL's, in TensorFlow) is
relocatable, and .nv_fatbin has it again, linked.
"""

import collections
import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

_MAGIC = struct.pack("<I", 0xBA55ED50)
_PTX, _ELF = 1, 2
_LARGEST = 64 << 20
_CUDA = re.compile(rb"lib(?:cuda|cudart|cublas|cublasLt|cudnn|cufft|cusolver|cusparse|nccl|nvJitLink|nvrtc)\.so\.\d[\d.]*(?=\0)")
_LOAD, _DYNAMIC = 1, 2
_NEEDED, _STRTAB, _VERNEED, _VERNEEDNUM = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF


class Code(NamedTuple):
    """The content of a fat binary."""

    sass: tuple[int, ...]  # machine code: 90 is compute capability 9.0
    ptx: tuple[tuple[int, str], ...]  # (90, "8.5"): for 9.0 and newer, in PTX 8.5


class Elf(NamedTuple):
    """Requirements for the dynamic linker."""

    needed: tuple[str, ...]
    versions: tuple[str, ...]  # "GLIBC_2.17", "GLIBCXX_3.4.19"


def fat_binaries(data: bytes) -> collections.Counter[Code]:
    """Return how many fat binaries have each content."""
    return collections.Counter(_codes(data))


def _codes(data: bytes) -> Iterator[Code]:
    place, skipped = 0, _section(data, b"__nv_relfatbin")
    while (start := data.find(_MAGIC, place)) >= 0:
        place = start + 4
        if start in skipped:
            place = skipped.stop
            continue
        if start + 16 > len(data):
            return
        version, header, size = struct.unpack_from("<HHQ", data, start + 4)
        if (version, header) != (1, 16) or size > _LARGEST or start + 16 + size > len(data):
            continue
        place = start + 16 + size
        entries = list(_entries(data, start + 16, place))
        if entries:
            sass = {capability for kind, capability, _ in entries if kind == _ELF}
            ptx = {(capability, version) for kind, capability, version in entries if kind == _PTX}
            yield Code(tuple(sorted(sass)), tuple(sorted(ptx)))


def _entries(data: bytes, place: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield kind, compute capability and PTX version of each entry."""
    while place + 64 <= end:
        kind, _, header, size, _, _, minor, major, capability = struct.unpack_from("<HHIQIIHHI", data, place)
        if kind not in (_PTX, _ELF) or header < 64:
            return
        yield kind, capability, f"{major}.{minor}"
        place += header + size


def _section(data: bytes, wanted: bytes) -> range:
    """Return the position of a section in a 64-bit ELF file, or an empty range."""
    if data[:6] != b"\x7fELF\x02\x01":
        return range(0)
    (table,) = struct.unpack_from("<Q", data, 40)
    size, number, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, table + size * row) for row in range(number)]
    for name, _, _, _, offset, length in headers:
        start = headers[names][4] + name
        if data[start : data.find(b"\0", start)] == wanted:
            return range(offset, offset + length)
    return range(0)


def cuda_names(data: bytes) -> tuple[str, ...]:
    """Return the names of CUDA libraries in the text of a file, which it opens at run time."""
    return tuple(sorted({found.decode() for found in _CUDA.findall(data)}))


def elf(data: bytes) -> Elf:
    """Return the requirements of a 64-bit little-endian ELF file; empty for any other file, or without a dynamic segment."""
    if data[:6] != b"\x7fELF\x02\x01":
        return Elf((), ())
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, number = struct.unpack_from("<HH", data, 54)
    segments = [struct.unpack_from("<IIQQQQ", data, offset + size * row) for row in range(number)]
    dynamic = next(((start, length) for kind, _, start, _, _, length in segments if kind == _DYNAMIC), None)
    if dynamic is None:
        return Elf((), ())

    loaded = [(start, base, length) for kind, _, start, base, _, length in segments if kind == _LOAD]

    def at(address: int) -> int:
        """Return the offset in the file of an address in memory."""
        return int(next(start + address - base for start, base, length in loaded if base <= address < base + length))

    tags = [struct.unpack_from("<QQ", data, dynamic[0] + 16 * row) for row in range(dynamic[1] // 16)]
    single = dict(tags)
    strings = at(single[_STRTAB])

    def text(place: int) -> str:
        """Return a string of the dynamic string table."""
        start = strings + place
        return data[start : data.find(b"\0", start)].decode()

    needed = tuple(text(value) for tag, value in tags if tag == _NEEDED)
    versions: set[str] = set()
    place = at(single[_VERNEED]) if _VERNEED in single else 0
    for _ in range(single.get(_VERNEEDNUM, 0)):
        _, count, _, first, following = struct.unpack_from("<HHIII", data, place)
        entry = place + first
        for _ in range(count):
            _, _, _, name, step = struct.unpack_from("<IHHII", data, entry)
            versions.add(text(name))
            entry += step
        place += following
    return Elf(needed, tuple(sorted(versions)))
