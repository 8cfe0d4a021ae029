"""The libraries of TensorFlow's list that it cannot use, and what each lacks: what the rules about libraries decide between."""

import re
from typing import NamedTuple

from gpucheck.model import Evidence, Skip, saw
from gpucheck.probes.libraries import Libraries, Library
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._gpus import absent
from gpucheck.rules._tensorflow import NO_TENSORFLOW_LIBRARIES, lists_gpu


class Fault(NamedTuple):
    """One library that TensorFlow needs and cannot use, and what it lacks: itself, or one that it needs in turn."""

    kind: str  # "missing", "unreachable", "corrupt", "unfit" (a symbol or version it does not find in another)
    soname: str
    place: int  # in ``Libraries.libraries``
    library: Library
    copies: tuple[str, ...] = ()  # where the missing one lies

    def evidence(self, libraries: Libraries) -> tuple[Evidence, ...]:
        """What was seen of this library."""
        fields = {
            "missing": ("path",),
            "unreachable": ("path", "elsewhere"),
            "corrupt": ("path", "problem"),
            "unfit": ("path", "open_error"),
        }[self.kind]
        if self.library.open_error and "open_error" not in fields and self.library.path:
            fields = (*fields, "open_error")
        return saw(libraries, f"libraries[{self.place}].soname", *(f"libraries[{self.place}].{name}" for name in fields))


_NOT_FOUND = re.compile(r"(lib[\w.+-]+\.so[\d.]*): cannot open shared object file: No such file")
_DAMAGED = re.compile(r"file too short|invalid ELF header|wrong ELF class|ELF file|SIGBUS|cannot read file data", re.I)
_UNFIT = re.compile(r"undefined symbol|version [`'].*' not found|symbol lookup error")


def library_faults(libraries: Libraries, *, required: bool = True) -> list[Fault]:
    """Every library of TensorFlow's list that it cannot use; the optional ones too, unless ``required``."""
    found = (_fault(libraries, index, library) for index, library in enumerate(libraries.libraries))
    return [fault for fault in found if fault and (fault.library.required or not required)]


def _fault(libraries: Libraries, index: int, library: Library) -> Fault | None:
    error = library.open_error or ""
    if library.path is None:
        if library.opened:  # something has loaded it already
            return None
        kind = "unreachable" if library.elsewhere else "missing"
        return Fault(kind, library.soname, index, library, library.elsewhere)
    if library.problem or (library.opened is False and _DAMAGED.search(error)):
        return Fault("corrupt", library.soname, index, library)
    if library.opened is False and (match := _NOT_FOUND.search(error)) and match[1] != library.soname:
        needed = next((other for other in libraries.libraries if other.soname == match[1]), None)
        copies = (*((needed.path,) if needed and needed.path else ()), *(needed.elsewhere if needed else ()))
        return Fault("unreachable" if copies else "missing", match[1], index, library, copies)
    if library.opened is False and _UNFIT.search(error):
        return Fault("unfit", library.soname, index, library)
    return None


def blocked_libraries(here: bool | None, libraries: Libraries, tensorflow: TensorFlow | None) -> list[Fault] | Skip | None:
    """The faults that keep TensorFlow from a GPU that is here; None where there is nothing to keep it from."""
    if not here:
        return absent(here)
    if lists_gpu(tensorflow):
        return None
    if libraries.tensorflow is None or not libraries.libraries:
        return NO_TENSORFLOW_LIBRARIES
    return library_faults(libraries)
