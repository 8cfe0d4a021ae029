"""The functions of NVIDIA's libraries that a shared library uses and provides, read with binutils (nm, readelf).

A library uses such a function in one of three ways:

- it is linked with the library: an undefined symbol, with the version of the symbol (PyTorch, and NVIDIA's libraries themselves)
- it has a stub of the same name, which opens the library at the first call, and calls the stub through a relocation (TensorFlow)
- it calls its stub directly (JAX): the machine code has a call, a jump or a lea whose target is the stub

A library has stubs for all functions in a header, and most are never called, so a stub alone is not a use.
"""

import re
import struct
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

SECONDS = 300.0
API = re.compile(
    r"_*(?:cublas(?:Lt)?|cudnn|cufft|cusolver|cusparse(?:Lt)?|cupti|curand|nccl|nvJitLink|nvrtc|nvshmemx?|cuda)[A-Z_]\w*"
)
_VERSION = re.compile(r"@lib(?:cu|nv|nccl)")
_STUB = re.compile(r"_(\w+)_tramp_table")
_OWN = re.compile(
    r"__cuda_module_|__cuda_register_globals|__cudaRegisterLinkedBinary_|_\w+_(?:tramp_\w+|save_regs_and_resolve)$"
)  # nvcc's and the stubs' own
_BRANCH = re.compile(rb"[\xe8\xe9]|[\x48\x4c]\x8d[\x05\x0d\x15\x1d\x25\x2d\x35\x3d]")  # call, jmp, lea; a 32-bit distance follows


class Symbols(NamedTuple):
    """The functions of NVIDIA's libraries, by name; 'name@version' if the linker recorded a version."""

    provides: frozenset[str]
    linked: frozenset[str]  # the library can't be loaded, or a call ends the process, without them
    called: frozenset[str]  # a stub returns an error without them


def read(path: str) -> Symbols:
    """Return the symbols of a shared library for x86_64."""
    provides, linked = set[str](), set[str]()
    for kind, name in _names(path, "-D"):
        if kind == "U" and (API.match(name) or _VERSION.search(name)):
            linked.add(name)
        elif kind not in "Uw" and (API.match(name) or _VERSION.search(name.replace("@@", "@"))):
            provides.add(name.replace("@@", "@"))
    return Symbols(frozenset(provides), frozenset(linked), frozenset(_called(path)))


def missing(needed: frozenset[str], provided: frozenset[str]) -> list[str]:
    """Return the names that are not provided. A name without version matches any version, as in the dynamic linker."""
    plain = {name.partition("@")[0] for name in provided}
    return sorted(name for name in needed if name not in provided and ("@" in name or name not in plain))


def _names(path: str, *options: str) -> Iterator[tuple[str, str]]:
    for line in _output("nm", *options, path):
        *_, kind, name = ["", "", *line.split()]
        yield kind, name


def _output(*argv: str) -> list[str]:
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    return done.stdout.splitlines()


def _called(path: str) -> set[str]:
    """Return the stubs that the library itself uses."""
    stubs, found = dict[int, str](), False
    for line in _output("nm", path) or _output("nm", "-D", path):
        parts = line.split()
        found = found or _STUB.fullmatch(parts[-1]) is not None
        if len(parts) == 3 and parts[1] in "tTW" and API.fullmatch(parts[2]) and not _OWN.match(parts[2]):
            stubs[int(parts[0], 16)] = parts[2]
    return {*_relocated(path, stubs), *_branched(path, stubs)} if found else set()


def _relocated(path: str, stubs: dict[int, str]) -> Iterator[str]:
    """Yield the stubs whose address the dynamic linker writes: by name, or by address."""
    names = set(stubs.values())
    for line in _output("readelf", "-rW", path):
        parts = line.split()
        if len(parts) == 4 and parts[2] == "R_X86_64_RELATIVE" and int(parts[3], 16) in stubs:
            yield stubs[int(parts[3], 16)]
        elif len(parts) > 4 and parts[4].partition("@")[0] in names:
            yield parts[4].partition("@")[0]


def _branched(path: str, stubs: dict[int, str]) -> Iterator[str]:
    """Yield the stubs that the machine code calls, jumps to, or takes the address of."""
    for address, code in _code(path):
        for match in _BRANCH.finditer(code):
            end = match.end()
            if end + 4 <= len(code):
                target = address + end + 4 + struct.unpack_from("<i", code, end)[0]
                if target in stubs:
                    yield stubs[target]


def _code(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the address and the content of each section of machine code, without the stubs' tables (.plt)."""
    with open(path, "rb") as file:
        for line in _output("readelf", "-SW", path):
            row = re.match(r"\s*\[\s*\d+\]\s+(\.text\S*)\s+PROGBITS\s+(\w+)\s+(\w+)\s+(\w+)", line)
            if row:
                file.seek(int(row[3], 16))
                yield int(row[2], 16), file.read(int(row[4], 16))
