"""The wheels as they were read: what they require, their GPU code, and the driver that can load it.

wheels.json is what ``tools/read_wheels.py`` read in the wheels on PyPI: the fat binaries in their libraries (machine code, and
PTX with its version; no relocatable code), the C library that these need, and METADATA. A driver can't compile PTX newer than
itself: docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html.
"""

import functools
import pkgutil
import re
from typing import Any, NamedTuple

import msgspec

from gpucheck.core.compat import versions


class Wheel(msgspec.Struct, frozen=True, eq=False):
    """A wheel, as read."""

    project: str
    version: str
    file: str
    sha256: str
    size: int  # bytes
    uploaded: str  # "2025-03-12"
    requires_python: str | None
    requires: tuple[str, ...]  # Requires-Dist
    glibc: str | None  # the newest that a library in it needs
    glibcxx: str | None
    needed: tuple[str, ...]  # NVIDIA libraries in DT_NEEDED
    opened: tuple[str, ...]  # whole names of CUDA libraries in its text; names that it composes are not among them
    build: dict[str, Any]  # of TensorFlow's build_info.py
    code: tuple[tuple[tuple[int, ...], tuple[tuple[int, str], ...], int], ...]  # machine code, PTX and its version; how many

    @property
    def architecture(self) -> str:
        """The processor: 'aarch64'."""
        return "aarch64" if self.file.endswith("aarch64.whl") else "x86_64"


class Support(NamedTuple):
    """How many fat binaries of a wheel a GPU can use."""

    native: int  # they have machine code
    compiled: int  # the driver compiles their PTX
    missing: int  # they have no code for it
    ptx: str | None  # the newest PTX that the driver has to compile

    @property
    def usable(self) -> bool:
        """Whether the wheel supports the GPU: most of its code must, because some kernels are for some GPUs only."""
        return self.native + self.compiled > self.missing


@functools.cache
def all_wheels() -> tuple[Wheel, ...]:
    """Return all wheels that were read."""
    return msgspec.json.decode(pkgutil.get_data(__name__, "wheels.json") or b"[]", type=tuple[Wheel, ...])


def find(project: str, version: str, architecture: str = "x86_64") -> Wheel:
    """Return the wheel of a release. Raises LookupError if it was not read."""
    key = (project, version, architecture)
    for wheel in all_wheels():
        if (wheel.project, wheel.version, wheel.architecture) == key:
            return wheel
    raise LookupError(" ".join(key))


@functools.cache
def of_extra(extra: str, wheel: Wheel) -> tuple[str, ...]:
    """Return the requirements of an extra, without markers: 'nvidia-nccl-cu12==2.19.3'."""
    needs = (text.partition(";") for text in wheel.requires)
    return tuple(re.sub(r"[ ()]", "", need) for need, _, marker in needs if re.search(rf"extra == ['\"]{extra}['\"]", marker))


@functools.cache
def support(wheel: Wheel, capability: tuple[int, int]) -> Support:
    """Return how much of a wheel's code a GPU can use, and how."""
    number = capability[0] * 10 + capability[1]
    native = compiled = missing = 0
    newest = ""
    for sass, ptx, count in wheel.code:
        fitting = [entry for entry in ptx if entry[0] <= number]
        if any(cubin // 10 == capability[0] and cubin <= number for cubin in sass):
            native += count
        elif fitting:
            compiled += count
            newest = max(newest, max(fitting)[1], key=versions.parse)
        else:
            missing += count
    return Support(native, compiled, missing, newest or None)
