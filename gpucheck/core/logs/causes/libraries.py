"""Causes at CUDA's libraries: absent, where nobody looks, of another CUDA, or in several copies.

A loader says no more than that a file could not be opened. Which of these it is follows from what else was opened, searched
and installed.
"""

import re
from typing import NamedTuple

from gpucheck.core.logs.causes.cause import Cause, sentence
from gpucheck.core.logs.causes.events import Events, values
from gpucheck.core.logs.causes.startup import infer_startup_failure
from gpucheck.core.logs.events import Event, Kind
from gpucheck.core.model import Severity
from gpucheck.core.repairs.wording import listing

_OF_CUDA = r"(?i)^(?:lib)?(?:cu(?!da\.so|da\.1)|nv(?!cuda|idia|ml|infer|onnx)|nccl)"
_CUDNN = r"(?i)^(?:lib)?cudnn"
_NUMBERED_AS_CUDA = r"(?i)^(?:lib)?(cudart|cublas(?:Lt)?|cusparse|nvrtc)(?:\.so\.|64_)(\d+)"
_TOOLKIT = r"(?i:/cuda[-/])(\d+)\.\d"
_ABSENT = r"(?i)cannot open shared object file(?!: Exec)|no such file|not found$|\.dll not found"
_OF_A_FRAMEWORK = r"(?i)^lib(?:torch|c10)|torch|jaxlib|xla"
_SYMBOL_OF_CUDA = r"^(?:__nv|nccl|nv|cu(?:blas|dnn|sparse|solver|fft|rand|da)?[A-Z])"
_BELOW = ("google.protobuf", "numpy")


class LibraryFailure(NamedTuple):
    """Why CUDA's libraries could not be used."""

    code: str  # of the rule that is about it
    events: list[Event]  # the lines it follows from
    names: list[str]  # the libraries or packages they name
    failed: bool  # a program failed on account of it, or TensorFlow gave its GPUs up
    majors: tuple[int, int] | None = None  # the CUDA that was looked for, and the one that is there


class _Signs:
    """What a log says about CUDA's libraries."""

    def __init__(self, events: Events) -> None:
        self.given_up = events.without_later_gpu_use(Kind.GPU_LIBRARIES_MISSING)
        self.no_runtime = events.without_later_gpu_use(Kind.CUDA_RUNTIME_UNAVAILABLE)
        self.missing = [event for event in events.without_later_gpu_use(Kind.LIBRARY_MISSING) if _is_absent(event)]
        self.conflicts = [event for event in events.without_later_gpu_use(Kind.SYMBOL_MISSING) if is_conflict(event)]
        if self.missing:  # a symbol that is asked of nothing follows from it
            self.conflicts = [event for event in self.conflicts if values([event], "file", "library")]
        lines = [event.line for event in (*self.missing, *self.conflicts)]
        raised = events.of(Kind.TRACEBACK, Kind.IMPORT_FAILED, Kind.KILLED, Kind.AUTOTUNER_FAILED)
        self.failed = bool(self.given_up or (lines and any(event.line >= lines[0] for event in raised)))

    @property
    def unused(self) -> bool:
        """Whether a library is missed, or the GPUs were given up for want of one."""
        return bool(self.missing or self.given_up or self.no_runtime)


def infer_library_failure(events: Events) -> LibraryFailure | None:
    """The one case that the log shows; None if no library is missed, or CUDA has no GPU to offer anyway."""
    signs = _Signs(events)
    if signs.conflicts:
        return LibraryFailure("library-path-conflict", signs.conflicts, [], True)
    below = any(event.fields.get("module") in _BELOW for event in events.without_later_gpu_use(Kind.IMPORT_FAILED))
    if below and not signs.given_up:
        return None  # what TensorFlow itself stands on ended it
    if not signs.unused:
        return _named_in_python(events)
    if events.infer(infer_startup_failure) is not None and not signs.failed:
        return None
    return _code_of_missing(events, signs)


def _named_in_python(events: Events) -> LibraryFailure | None:
    """A framework says so, where no loader missed a file."""
    tried = events.without_later_gpu_use(
        Kind.CUDNN_FAILED, Kind.CUDNN_VERSION_MISMATCH, Kind.OUT_OF_MEMORY
    )  # it failed for a reason of its own
    if not tried and (absent := events.without_later_gpu_use(Kind.CUDNN_ABSENT)):
        return LibraryFailure("cudnn-missing", absent, [], True)
    if packages := events.without_later_gpu_use(Kind.CUDA_PACKAGE_MISSING):
        return LibraryFailure("cuda-libraries-missing", packages, values(packages, "package"), True)
    return None


def _code_of_missing(events: Events, signs: _Signs) -> LibraryFailure:
    # whether pip said that it laid down CUDA's libraries beside TensorFlow
    installed = events.of(Kind.PACKAGE_INSTALLED, cuda="yes")
    code = "cuda-libraries-unreachable" if installed else "cuda-libraries-missing"
    if not signs.missing:
        return LibraryFailure(code, [*signs.given_up[:1], *signs.no_runtime[:1]], [], signs.failed)
    names = values(signs.missing, "soname")
    lines = [*signs.missing[:3], *signs.given_up[:1]]
    if (majors := _majors(events, signs.missing)) is not None:
        return LibraryFailure("cuda-version-mismatch", lines, names, signs.failed, majors)
    if all(re.match(_CUDNN, name) for name in names):
        return LibraryFailure("cudnn-missing", lines, names, signs.failed)
    opened = values(events.of(Kind.LIBRARY_OPENED), "soname")
    if names == ["libcusolver.so.11"] and "libcublas.so.12" in opened:  # TensorFlow 2.21.0 does not look into its folder
        code = "cuda-libraries-unreachable"
    return LibraryFailure(code, lines, names, signs.failed)


def is_conflict(event: Event) -> bool:
    """Whether the copy of a CUDA library that was found is not the one that its caller was built with."""
    parts = [event.fields.get(name, "") for name in ("file", "library", "version")]
    if any(re.match(_OF_CUDA, part) for part in parts):
        return True
    symbol = event.fields.get("symbol", "")
    return bool(re.match(_SYMBOL_OF_CUDA, symbol)) and (not parts[0] or bool(re.search(_OF_A_FRAMEWORK, parts[0])))


def _is_absent(event: Event) -> bool:
    """A library of CUDA, not the driver's own, that is not there; a damaged one is."""
    error = event.fields.get("error", "")
    return bool(re.match(_OF_CUDA, event.fields.get("soname", ""))) and (not error or bool(re.search(_ABSENT, error)))


def _majors(events: Events, missing: list[Event]) -> tuple[int, int] | None:
    """The CUDA major of the missing libraries and the one of what is there, where these differ throughout."""
    wanted = {number for name in values(missing, "soname") if (number := _major(name))}
    there = {number for name in values(events.of(Kind.LIBRARY_OPENED), "soname") if (number := _major(name))}
    there |= {int(version.partition(".")[0]) for version in values(events.of(Kind.CUDA_TOOLKIT), "version")}
    searched = values(list(events.log.events), "searched")
    there |= {int(number) for folders in searched for number in re.findall(_TOOLKIT, folders)}
    if len(wanted) != 1 or not there or wanted & there:
        return None
    return max(wanted), max(there)


def _major(soname: str) -> int | None:
    """12 for libcublas.so.12 and cudart64_12.dll, 11 for cudart64_110.dll; None where the number is another one's."""
    match = re.match(_NUMBERED_AS_CUDA, soname)
    if match is None:
        return None
    number = int(match[2])
    return number // 10 if number >= 70 else number


def cuda_libraries_missing(events: Events) -> Cause | None:
    """The loader or TensorFlow says so. The CUDA runtime alone is missed on every machine without a GPU, too."""
    failure = events.inferred(infer_library_failure, "cuda-libraries-missing")
    if failure is None:
        return None
    named = f": {listing(failure.names)}" if failure.names else ""
    severity = None if failure.failed or len(failure.names) > 1 else Severity.WARNING
    return Cause(f"CUDA libraries that this program opens are not found{named}.", failure.events, severity)


def cuda_libraries_unreachable(events: Events) -> Cause | None:
    """pip installed the libraries, or others beside them were opened, and the loader does not find them."""
    failure = events.inferred(infer_library_failure, "cuda-libraries-unreachable")
    if failure is None:
        return None
    names = f"{listing(failure.names)} {'is' if len(failure.names) == 1 else 'are'}" if failure.names else "CUDA's libraries are"
    return Cause(f"{names} installed beside the other CUDA libraries, but not found where TensorFlow looks.", failure.events)


def cuda_version_mismatch(events: Events) -> Cause | None:
    """A program looks for the libraries of one CUDA where those of another are."""
    failure = events.inferred(infer_library_failure, "cuda-version-mismatch")
    if failure is None or failure.majors is None:
        return None
    wanted, there = failure.majors
    summary = f"The program needs the libraries of CUDA {wanted} ({listing(failure.names)}), and only those of CUDA {there} are in sight."
    return Cause(summary, failure.events, None if failure.failed else Severity.WARNING)


def library_path_conflict(events: Events) -> Cause | None:
    """A symbol or a version that the caller was built with is not in the copy that was loaded."""
    failure = events.inferred(infer_library_failure, "library-path-conflict")
    if failure is None:
        return None
    template = (
        "{file|A library} does not find {symbol/version|what it was built with} in {library|the copy of the CUDA library that is"
        " loaded}: another copy is put before the one that belongs to it."
    )
    return Cause(sentence(template, failure.events[:1]), failure.events, Severity.ERROR)


def cudnn_missing(events: Events) -> Cause | None:
    """cuDNN, or a part of it, is all that the loader misses, or TensorFlow found none that it could use."""
    failure = events.inferred(infer_library_failure, "cudnn-missing")
    if failure is None:
        return None
    name = failure.names[0] if failure.names else ""
    part = "_" in name.partition(".so")[0].partition("64_")[0]
    if part:
        what = f"cuDNN is incomplete: {name} is not found"
    elif name:
        what = f"cuDNN is not found ({name})"
    else:
        what = "No cuDNN that could be used was found: none, or one of another version"
    severity = None if failure.failed or part else Severity.WARNING
    return Cause(f"{what}, and the program needs it for every convolution.", failure.events, severity)


def libdevice_missing(events: Events) -> Cause | None:
    """XLA says so; its first message is only a warning, after which much still works."""
    ptxas = {event.line + 1 for event in events.of(Kind.PTXAS_MISSING)}
    missing = [event for event in events.unresolved(Kind.LIBDEVICE_MISSING) if not _searched_for_ptxas(event, ptxas)]
    if not missing:
        return None
    summary = "libdevice.10.bc, which XLA links into the kernels it compiles for the GPU, is not found."
    fatal = any(event.fields.get("fatal") == "yes" for event in missing)
    return Cause(summary, missing, None if fatal else Severity.WARNING)


def _searched_for_ptxas(event: Event, lines: set[int]) -> bool:
    """Whether the folders that a line goes through were searched for ptxas: its file, or the line before it, says so."""
    if "Searched for CUDA" not in event.text or "libdevice" in event.text:
        return False
    return event.line in lines or re.search(r"\b(?:nvptx|asm)_compiler\.cc\b", event.text) is not None


def ptxas_missing(events: Events) -> Cause | None:
    """XLA says that it can't run ptxas, or only one too old for its PTX. Mostly the driver compiles in its place, more slowly."""
    missing = events.of(Kind.PTXAS_MISSING)
    old = events.unresolved(Kind.PTXAS_TOO_OLD, needed=".+")
    if not (missing or old):
        return None
    lines = missing or old
    later = events.unresolved(Kind.TRACEBACK, Kind.AUTOTUNER_FAILED, Kind.KILLED)
    fatal = [event for event in later if event.line >= lines[0].line]
    if not missing:
        reads = old[0].fields
        end = f" is too old: it reads PTX {reads['version']}, not {reads['needed']}"
    elif fatal or events.unresolved(Kind.PTXAS_MISSING):
        end = " can't be run: it is not found"
    else:
        end = " can't be run; the driver compiled in its place"
    summary = f"ptxas, with which XLA compiles for the GPU,{end}."
    return Cause(summary, [*lines[:2], *fatal[:1]], None if fatal else Severity.WARNING)
