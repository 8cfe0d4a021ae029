"""The libraries on TensorFlow's list that it can't use, and what each of them lacks."""

import re

import msgspec

from gpucheck.core.combiners.gpu_presence import GpuPresence
from gpucheck.core.model import Evidence, Fact, Skip, combiner, saw
from gpucheck.core.probes.libraries import Libraries, Library
from gpucheck.core.probes.tensorflow import TensorFlow

_NOT_FOUND = r"(lib[\w.+-]+\.so[\d.]*): cannot open shared object file: No such file"
_DAMAGED = r"(?i)file too short|invalid ELF header|wrong ELF class|ELF file|SIGBUS|cannot read file data"
_INCOMPATIBLE = r"undefined symbol|version [`'].*' not found|symbol lookup error"
_FIELDS = {
    "missing": ("path",),
    "unreachable": ("path", "elsewhere"),
    "corrupt": ("path", "problem"),
    "incompatible": ("path", "open_error"),
}


class Fault(msgspec.Struct, frozen=True):
    """A library that TensorFlow needs but can't use, and the missing library: itself, or one of its dependencies."""

    kind: str  # "missing", "unreachable", "corrupt", "incompatible" (it lacks a symbol or version in another library)
    soname: str
    library: Library
    copies: tuple[str, ...]  # paths of copies of the missing one
    evidence: tuple[Evidence, ...]


class LibraryFaults(Fact, frozen=True, kw_only=True):
    """Problems of the libraries that TensorFlow opens, and whether they prevent it from using a GPU."""

    presence: GpuPresence
    libraries: Libraries
    faults: tuple[Fault, ...]  # of every library, the optional ones too
    lists_gpu: bool  # TensorFlow lists a GPU, so it has opened every required library
    unknown: Skip | None  # why nothing is known about the libraries

    @property
    def required(self) -> list[Fault]:
        """The faults of libraries without which TensorFlow registers no GPU."""
        return [fault for fault in self.faults if fault.library.required]

    @property
    def skip(self) -> Skip | None:
        """Why it is unknown whether faults keep TensorFlow from using a present GPU; None if it is known."""
        if not self.presence.present:
            return self.presence.skip
        return None if self.lists_gpu else self.unknown

    def blocking(self, kind: str) -> list[Fault]:
        """Return the faults of this kind that keep TensorFlow from using a present GPU; empty if it lists one or none exists."""
        matters = self.presence.present and not self.lists_gpu and not self.unknown
        return [fault for fault in self.required if fault.kind == kind] if matters else []


@combiner
def combine(presence: GpuPresence, libraries: Libraries, tensorflow: TensorFlow | None) -> LibraryFaults:
    """Check each library separately; its faults matter only if a GPU is present."""
    looked_up = libraries.tensorflow is not None and bool(libraries.libraries)
    return LibraryFaults(
        presence=presence,
        libraries=libraries,
        faults=tuple(filter(None, (_fault(libraries, place) for place in range(len(libraries.libraries))))),
        lists_gpu=tensorflow is not None and tensorflow.lists_gpu,
        unknown=None if looked_up else Skip("no TensorFlow was found whose libraries could be checked on this system"),
    )


def _fault(libraries: Libraries, place: int) -> Fault | None:
    library = libraries.libraries[place]
    error = (library.open_error or "") if library.opened is False else ""
    if library.path is None:
        kind = "unreachable" if library.elsewhere else "missing"
        # opened without a path: it was already loaded
        return None if library.opened else _describe(kind, libraries, place, copies=library.elsewhere)
    if library.problem or re.search(_DAMAGED, error):
        return _describe("corrupt", libraries, place)
    match = re.search(_NOT_FOUND, error)
    lacks = match[1] if match else next(iter(library.lacks), None) if library.opened is None else None
    if lacks is not None and lacks != library.soname:
        needed = next((other for other in libraries.libraries if other.soname == lacks), None)
        copies = (*((needed.path,) if needed.path else ()), *needed.elsewhere) if needed else ()
        return _describe("unreachable" if copies else "missing", libraries, place, lacks, copies)
    return _describe("incompatible", libraries, place) if re.search(_INCOMPATIBLE, error) else None


def _describe(kind: str, libraries: Libraries, place: int, soname: str | None = None, copies: tuple[str, ...] = ()) -> Fault:
    library, path = libraries.libraries[place], f"libraries[{place}]"
    fields = _FIELDS[kind]
    if library.lacks and library.opened is None:
        fields = (*fields, "lacks")
    if library.open_error and library.path and "open_error" not in fields:
        fields = (*fields, "open_error")
    evidence = saw(libraries, f"{path}.soname", *(f"{path}.{name}" for name in fields))
    return Fault(kind, soname or library.soname, library, copies, evidence)
