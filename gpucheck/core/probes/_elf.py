"""The parts of an ELF file that determine whether the loader opens it, its search path, and the versions of its symbols.

Sources: the System V ABI, chapters "Object Files" and "Dynamic Linking"; elf(5); "Symbol Versioning" of the Linux Standard Base.
"""

import struct
from collections.abc import Iterator

import msgspec

from gpucheck.core.host import Host

WRONG_ARCHITECTURE = "built for "  # start of a problem for which the loader skips the file and continues its search

_HEAD_BYTES = 4096  # includes the program headers of all known libraries
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RPATH, _DT_RUNPATH = 0, 1, 5, 10, 15, 29
_DT_VERDEF, _DT_VERNEED = 0x6FFFFFFC, 0x6FFFFFFE
_WEAK = 2  # flag of a needed version: the loader does not require it
_VERSION_BYTES = 1 << 16  # of a table of versions; TensorFlow 2.21.0 and libstdc++ of GCC 14 have less than 3 KiB
_ET_DYN = 3
_MACHINES = {3: "i386", 21: "ppc64le", 22: "s390x", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}


class Segment(msgspec.Struct, frozen=True):
    """One program header."""

    kind: int
    offset: int
    address: int
    size_bytes: int  # in the file


class Elf(msgspec.Struct, frozen=True):
    """The headers of one file."""

    order: str  # byte order in the notation of struct: "<" or ">"
    bits: int
    kind: int
    machine: str
    segments: tuple[Segment, ...]
    end: int  # minimum file size according to the headers


def problem(host: Host, path: str, machine: str) -> str | None:
    """Return why the loader can't use a library on that machine (as in ``uname``), or ``None``.

    "empty", "truncated", "not a library", "built for aarch64", or "unreadable" for a file that is missing or can't be opened.
    """
    data = host.read_bytes(path, size=_HEAD_BYTES)
    if data is None:
        return "unreadable"
    if not data:
        return "empty"
    elf = _parse(host, path, data)
    if elf is None:
        return "truncated" if data.startswith(b"\x7fELF") else "not a library"
    if machine in _MACHINES.values() and elf.machine != machine:
        return WRONG_ARCHITECTURE + elf.machine
    if elf.kind != _ET_DYN:
        return "not a library"
    if elf.end > len(data) and not host.read_bytes(path, elf.end - 1, 1):
        return "truncated"
    return None


def search_path(host: Host, path: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return DT_RPATH and DT_RUNPATH of a library, as written (``$ORIGIN`` included); None if it can't be read."""
    dynamic = _dynamic(host, path)
    if dynamic is None:
        return None
    _, tags, strings = dynamic
    rpath, runpath = (next(iter(tags.get(tag, ())), None) for tag in (_DT_RPATH, _DT_RUNPATH))
    return _entries(host, path, strings, rpath), _entries(host, path, strings, runpath)


def needed(host: Host, path: str) -> tuple[str, ...]:
    """Return the sonames that a library depends on; empty if it can't be read."""
    dynamic = _dynamic(host, path)
    offsets = dynamic[1].get(_DT_NEEDED, []) if dynamic is not None else []
    if dynamic is None or not offsets:
        return ()
    first = min(offsets)
    data = host.read_bytes(path, dynamic[2] + first, max(offsets) - first + 256) or b""
    names = (data[offset - first :].partition(b"\0")[0].decode("utf-8", "replace") for offset in offsets)
    return tuple(name for name in names if name)


def missing_version(host: Host, path: str, soname: str, copy: str) -> str | None:
    """Return the first version that a library needs from another one and that the other one's copy lacks: "GLIBCXX_3.4.20".

    None if the copy defines all of them, or if one of the two can't be read. The loader accepts a copy that defines no version at
    all if it has the symbols, so for such a copy the first version is returned only if it lacks the C++ operator delete.
    """
    ours, other = _dynamic(host, path), _dynamic(host, copy)
    if ours is None or other is None:
        return None
    (elf, _, strings), tags = ours, other[1]
    defined = {fields[4] for _, fields in _records(_table(host, copy, other, _DT_VERDEF), 0, "HHHHII", other[0])}
    if not defined and b"\0_ZdlPv\0" in (host.read_bytes(copy, other[2], next(iter(tags.get(_DT_STRSZ, ())), 0)) or b""):
        return None
    table = _table(host, path, ours, _DT_VERNEED)
    for place, (_, _, file, first) in _records(table, 0, "HHII", elf):
        if _string(host, path, strings + file) != soname:
            continue
        for _, (hashed, flags, _, name) in _records(table, place + first, "IHHI", elf):
            if hashed not in defined and not flags & _WEAK:
                return _string(host, path, strings + name)
    return None


def _records(table: bytes, place: int, fields: str, elf: Elf) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the place and the fields of each record; a record ends with the distance to the next one, 0 in the last."""
    record = struct.Struct(f"{elf.order}{fields}I")
    while place + record.size <= len(table):
        *values, distance = record.unpack_from(table, place)
        yield place, tuple(values)
        if not distance:
            return
        place += distance


def _table(host: Host, path: str, dynamic: tuple[Elf, dict[int, list[int]], int], tag: int) -> bytes:
    """Return a table of versions; empty if there is none."""
    elf, tags, _ = dynamic
    offset = _offset(elf, next(iter(tags.get(tag, ())), None))
    return b"" if offset is None else host.read_bytes(path, offset, _VERSION_BYTES) or b""


def _string(host: Host, path: str, offset: int) -> str:
    return (host.read_bytes(path, offset, 256) or b"").partition(b"\0")[0].decode("utf-8", "replace")


def _dynamic(host: Host, path: str) -> tuple[Elf, dict[int, list[int]], int] | None:
    """Read the headers, the entries of the dynamic section by tag, and the file offset of its strings; None if unreadable."""
    data = host.read_bytes(path, size=_HEAD_BYTES)
    elf = _parse(host, path, data) if data else None
    if elf is None:
        return None
    dynamic = next((segment for segment in elf.segments if segment.kind == _PT_DYNAMIC), None)
    table = dynamic and host.read_bytes(path, dynamic.offset, dynamic.size_bytes)
    if not table:
        return None
    entry = struct.Struct(elf.order + ("QQ" if elf.bits == 64 else "II"))
    tags: dict[int, list[int]] = {}
    for tag, value in entry.iter_unpack(table[: len(table) // entry.size * entry.size]):
        if tag == _DT_NULL:
            break
        tags.setdefault(tag, []).append(value)
    strings = _offset(elf, next(iter(tags.get(_DT_STRTAB, ())), None))
    return None if strings is None else (elf, tags, strings)


def _parse(host: Host, path: str, data: bytes) -> Elf | None:
    """Parse the headers from a file's first bytes; None if it is not an ELF file, or truncated."""
    if len(data) < 52 or not data.startswith(b"\x7fELF") or data[4] not in (1, 2) or data[5] not in (1, 2):
        return None
    order, wide = "<>"[data[5] - 1], data[4] == 2
    try:
        kind, machine = struct.unpack_from(order + "HH", data, 16)
        programs, sections = struct.unpack_from(order + ("QQ" if wide else "II"), data, 32 if wide else 28)
        sizes = struct.unpack_from(order + "HHHH", data, 54 if wide else 42)
        table = data[programs : programs + sizes[0] * sizes[1]]
        if len(table) < sizes[0] * sizes[1]:
            table = host.read_bytes(path, programs, sizes[0] * sizes[1]) or b""
            if len(table) < sizes[0] * sizes[1]:
                return None
        segments = tuple(_segment(table, number * sizes[0], order, wide) for number in range(sizes[1]))
    except struct.error:
        return None
    end = max([segment.offset + segment.size_bytes for segment in segments if segment.kind == _PT_LOAD], default=0)
    if sections:
        end = max(end, sections + sizes[2] * sizes[3])
    name = _MACHINES.get(machine, f"machine {machine}")
    return Elf(order, 64 if wide else 32, kind, name if wide or machine != 62 else "x32", segments, end)


def _segment(data: bytes, offset: int, order: str, wide: bool) -> Segment:
    if wide:
        kind, _, position, address, _, size = struct.unpack_from(order + "IIQQQQ", data, offset)
    else:
        kind, position, address, _, size = struct.unpack_from(order + "IIIII", data, offset)
    return Segment(kind, position, address, size)


def _offset(elf: Elf, address: int | None) -> int | None:
    """Return the file offset of the byte that is mapped to an address."""
    for segment in elf.segments:
        if segment.kind == _PT_LOAD and address is not None and 0 <= address - segment.address < segment.size_bytes:
            return address - segment.address + segment.offset
    return None


def _entries(host: Host, path: str, strings: int, offset: int | None) -> tuple[str, ...]:
    if offset is None:
        return ()
    size = 1 << 16  # TensorFlow 2.21.0 has 20 thousand characters for its 18 folders
    while True:
        data = host.read_bytes(path, strings + offset, size) or b""
        text, end, _ = data.partition(b"\0")
        if end or len(data) < size:
            return tuple(text.decode("utf-8", "replace").split(":"))
        size *= 4
