"""Causes related to CUDA's libraries: missing, outside the search path, of another CUDA version, or in several copies.

The loader only reports that a file could not be opened. The cause follows from the other libraries that were opened,
searched and installed.
"""

import re
from collections.abc import Mapping

from gpucheck.core.compat import versions
from gpucheck.core.compat.cuda import CUDNN_FOR_XLA
from gpucheck.core.logs.causes.cause import Cause, sentence
from gpucheck.core.logs.causes.events import Events, values
from gpucheck.core.logs.causes.startup import infer_startup_failure
from gpucheck.core.logs.events import Event
from gpucheck.core.model import Severity
from gpucheck.core.model.wording import convolution_refused, listing

_OF_CUDA = r"(?i)^(?:lib)?(?:cu(?!da\.so|da\.1)|nv(?!cuda|idia|ml|infer|onnx)|nccl)"
_CUDNN = r"(?i)^(?:lib)?cudnn"
_NUMBERED_AS_CUDA = r"(?i)^(?:lib)?(cudart|cublas(?:Lt)?|cusparse|nvrtc)(?:\.so\.|64_)(\d+)"
_TOOLKIT = r"(?i:/cuda[-/])(\d+)\.\d"
_ABSENT = r"(?i)cannot open shared object file(?!: Exec)|no such file|not found$|\.dll not found"
_OF_A_FRAMEWORK = r"(?i)^lib(?:torch|c10)|torch|jaxlib|xla"
_SYMBOL_OF_CUDA = r"^(?:__nv|nccl|nv|cu(?:blas|dnn|sparse|solver|fft|rand|da)?[A-Z])"
# A C++ library outside the system's folders that is too old for its caller
_FOREIGN_STDLIB = re.compile(
    r"(?<![\w/.-])(?!(?:/usr)?/lib(?:64|/[\w-]+-linux-gnu)?/lib)\S*/libstdc\+\+\.so\S*: version [`'](?:GLIBCXX|CXXABI)_"
    # a copy that has the version, but not all of its symbols
    r"|undefined symbol: \S+,? version (?:GLIBCXX|CXXABI)_"
)
_CONVOLUTION_OF_TENSORFLOW = r'^(?!.*(?:JaxRuntimeError|XlaRuntimeError|op_name="jit\()).*%cudnn-conv'
_BELOW = ("google.protobuf", "numpy")
_CONFLICT = (
    "{file|A library} does not find {symbol/version|what it was built with} in {library|the copy of the CUDA library that is"
    " loaded}: another copy comes first in the search path."
)


class _Signs:
    """Lines of a log about CUDA's libraries."""

    def __init__(self, events: Events) -> None:
        self.gpus_skipped = events.without_later_gpu_use("gpu-libraries-missing")
        self.no_runtime = events.without_later_gpu_use("cuda-runtime-unavailable")
        self.missing = [event for event in events.without_later_gpu_use("library-missing") if _is_absent(event)]
        self.conflicts = [event for event in events.without_later_gpu_use("symbol-missing") if is_conflict(event)]
        if self.missing:  # that explains the missing symbols
            self.conflicts = [event for event in self.conflicts if values([event], "file", "library")]
        lines = [event.line for event in (*self.missing, *self.conflicts)]
        raised = events.of("traceback", "import-failed", "killed", "autotuner-failed")
        self.failed = bool(self.gpus_skipped or (lines and any(event.line >= lines[0] for event in raised)))

    @property
    def unused(self) -> bool:
        """Whether a library is missing, or the GPUs were skipped because of that."""
        return bool(self.missing or self.gpus_skipped or self.no_runtime)


def _library_failure(events: Events) -> dict[str, Cause]:
    """Return the one cause that the log shows, by its code; empty if no library is missing, or CUDA has no GPU anyway."""
    if events.of("watched", code="cuda-libraries-.*|cuda-version-mismatch|cudnn-missing|library-path-conflict"):
        return {}  # Watch examined the machine, and reported the cause
    signs = _Signs(events)
    if signs.conflicts:
        return {"library-path-conflict": Cause(sentence(_CONFLICT, signs.conflicts[:1]), signs.conflicts, Severity.ERROR)}
    below = any(event.fields.get("module") in _BELOW for event in events.without_later_gpu_use("import-failed"))
    if below and not signs.gpus_skipped:
        return {}  # a library that TensorFlow itself needs ended it
    if not signs.unused:
        return _named_in_python(events)
    if events.infer(infer_startup_failure) is not None and not signs.failed:
        return {}
    return _missing(events, signs)


def _named_in_python(events: Events) -> dict[str, Cause]:
    """Return the cause that a framework reports, if the loader reports no missing file."""
    # it failed for another reason
    tried = events.without_later_gpu_use("cudnn-failed", "cudnn-version-mismatch", "out-of-memory")
    if not tried and (absent := events.without_later_gpu_use("cudnn-absent")):
        return {"cudnn-missing": _without_cudnn(absent, True, [], [])}
    if packages := events.without_later_gpu_use("cuda-package-missing"):
        return {"cuda-libraries-missing": _without_libraries(packages, True, values(packages, "package"))}
    return {}


def _missing(events: Events, signs: _Signs) -> dict[str, Cause]:
    """Return the cause if the loader reports missing files, or TensorFlow skipped its GPUs."""
    names = values(signs.missing, "soname")
    lines = [*signs.missing[:3], *signs.gpus_skipped[:1], *([] if signs.missing else signs.no_runtime[:1])]
    opened = values(events.of("library-opened"), "soname")
    if (majors := _majors(events, signs.missing)) is not None:
        return {"cuda-version-mismatch": _of_another_version(lines, signs.failed, names, *majors)}
    if names and all(re.match(_CUDNN, name) for name in names):
        return {"cudnn-missing": _without_cudnn(lines, signs.failed, names, opened)}
    # pip installed CUDA's libraries next to TensorFlow, or it is TensorFlow 2.21.0, which does not search that folder
    here = events.of("package-installed", cuda="yes") or (names == ["libcusolver.so.11"] and "libcublas.so.12" in opened)
    if here:
        return {"cuda-libraries-unreachable": _beyond_the_path(lines, names)}
    return {"cuda-libraries-missing": _without_libraries(lines, signs.failed, names)}


def _without_libraries(lines: list[Event], failed: bool, names: list[str]) -> Cause:
    found = f": {listing(names)}" if names else ""
    severity = None if failed or len(names) > 1 else Severity.WARNING
    return Cause(f"CUDA libraries that this program needs are not found{found}.", lines, severity, repair_values=_sonames(names))


def _beyond_the_path(lines: list[Event], names: list[str]) -> Cause:
    what = f"{listing(names)} {'is' if len(names) == 1 else 'are'}" if names else "CUDA's libraries are"
    summary = f"{what} installed with the other CUDA libraries, but outside TensorFlow's search path."
    return Cause(summary, lines, repair_values=_sonames(names))


def _of_another_version(lines: list[Event], failed: bool, names: list[str], required: int, there: int) -> Cause:
    summary = f"The program needs the libraries of CUDA {required} ({listing(names)}), but only those of CUDA {there} are found."
    repair_values = {**_sonames(names), "built": str(required), "found": str(there)}
    return Cause(summary, lines, None if failed else Severity.WARNING, repair_values=repair_values)


def _without_cudnn(lines: list[Event], failed: bool, names: list[str], opened: list[str]) -> Cause:
    name = names[0] if names else ""
    part = "_" in name.partition(".so")[0].partition("64_")[0]
    if part:
        what = f"cuDNN is incomplete: {name} is not found"
    elif name:
        what = f"cuDNN is not found ({name})"
    else:
        what = "No usable cuDNN was found: it is missing or has another version"
    severity = None if failed or part else Severity.WARNING
    repair_values = {**_sonames(names), "beside": " ".join(opened), "part": "yes" if part else ""}
    return Cause(f"{what}, and the program needs it for every convolution.", lines, severity, repair_values=repair_values)


def _sonames(names: list[str]) -> dict[str, str]:
    """Return the names of files, on which the repairs depend; others are packages."""
    return {"sonames": " ".join(name for name in names if ".so" in name or name.endswith(".dll"))}


def is_conflict(event: Event) -> bool:
    """Whether the CUDA library that was loaded is not the copy that its caller was built with."""
    if _FOREIGN_STDLIB.search(event.text):
        return True
    parts = [event.fields.get(name, "") for name in ("file", "library", "version")]
    if any(re.match(_OF_CUDA, part) for part in parts):
        return True
    symbol = event.fields.get("symbol", "")
    return bool(re.match(_SYMBOL_OF_CUDA, symbol)) and (not parts[0] or bool(re.search(_OF_A_FRAMEWORK, parts[0])))


def _is_absent(event: Event) -> bool:
    """Whether a CUDA library, not one of the driver, is missing; a damaged one is not missing."""
    error = event.fields.get("error", "")
    return bool(re.match(_OF_CUDA, event.fields.get("soname", ""))) and (not error or bool(re.search(_ABSENT, error)))


def _majors(events: Events, missing: list[Event]) -> tuple[int, int] | None:
    """Return the CUDA major versions of the missing and the present libraries, if they all differ."""
    required = {number for name in values(missing, "soname") if (number := _major(name))}
    there = {number for name in values(events.of("library-opened"), "soname") if (number := _major(name))}
    there |= {int(version.partition(".")[0]) for version in values(events.of("cuda-toolkit"), "version")}
    searched = values(list(events.log.events), "searched")
    there |= {int(number) for folders in searched for number in re.findall(_TOOLKIT, folders)}
    if len(required) != 1 or not there or required & there:
        return None
    return max(required), max(there)


def _major(soname: str) -> int | None:
    """Return 12 for libcublas.so.12 and cudart64_12.dll, 11 for cudart64_110.dll; None if the number is not CUDA's."""
    match = re.match(_NUMBERED_AS_CUDA, soname)
    if match is None:
        return None
    number = int(match[2])
    return number // 10 if number >= 70 else number


def cuda_libraries_missing(events: Events) -> Cause | None:
    """Detect missing CUDA libraries. If only the CUDA runtime is missing, the machine may have no GPU at all."""
    return events.infer(_library_failure).get("cuda-libraries-missing")


def cuda_libraries_unreachable(events: Events) -> Cause | None:
    """Detect libraries that pip installed, or whose folder has others that were opened, but that the loader does not find."""
    return events.infer(_library_failure).get("cuda-libraries-unreachable")


def cuda_version_mismatch(events: Events) -> Cause | None:
    """Detect a program that needs the libraries of one CUDA version, while those of another are installed."""
    return events.infer(_library_failure).get("cuda-version-mismatch")


def library_path_conflict(events: Events) -> Cause | None:
    """Detect a loaded copy that lacks a symbol or a version that its caller was built with."""
    return events.infer(_library_failure).get("library-path-conflict")


def cudnn_missing(events: Events) -> Cause | None:
    """Detect that only cuDNN, or a part of it, is missing, or that TensorFlow found none that it can use."""
    return events.infer(_library_failure).get("cudnn-missing")


def libdevice_missing(events: Events) -> Cause | None:
    """Detect that XLA does not find libdevice; its first message is only a warning, after which many programs still work."""
    ptxas = {event.line + 1 for event in events.of("ptxas-missing")}
    missing = [event for event in events.unresolved("libdevice-missing") if not _searched_for_ptxas(event, ptxas)]
    if not missing:
        return None
    summary = "libdevice.10.bc, which XLA links into the kernels it compiles for the GPU, is not found."
    fatal = any(event.fields.get("fatal") == "yes" for event in missing)
    return Cause(summary, missing, None if fatal else Severity.WARNING)


def _searched_for_ptxas(event: Event, lines: set[int]) -> bool:
    """Whether the folders in a line were searched for ptxas, according to its source file or the previous line."""
    if "Searched for CUDA" not in event.text or "libdevice" in event.text:
        return False
    return event.line in lines or re.search(r"\b(?:nvptx|asm)_compiler\.cc\b", event.text) is not None


def _too_old(reads: Mapping[str, str]) -> str:
    if "instead" in reads:
        target = f" ({reads['target']})" if "target" in reads else ""
        return f" is older than this GPU's architecture{target}; the driver compiled instead"
    return f" is too old: it reads PTX {reads['version']}, not {reads['needed']}"


def cudnn_version_mismatch(events: Events) -> Cause | None:
    """Detect a cuDNN with which XLA can't run a convolution, although no part of it is missing."""
    failed = [event for event in events.unresolved("autotuner-failed") if re.search(_CONVOLUTION_OF_TENSORFLOW, event.text)]
    if not failed or events.has("library-missing", "library-corrupt", "cudnn-failed", "cudnn-absent"):
        return None
    loaded = [event for event in events.of("cudnn-loaded") if event.line <= failed[0].line][-1:]
    version = versions.of_cudnn(loaded[0].fields["version"]) if loaded else ""
    if version and versions.at_least(version, CUDNN_FOR_XLA):
        return None
    repair_values = {"compiled": CUDNN_FOR_XLA, "xla": "yes"}
    return Cause(convolution_refused(version), [*failed[:1], *loaded], repair_values=repair_values)


def ptxas_missing(events: Events) -> Cause | None:
    """Detect a ptxas that XLA can't run, or that is too old for its PTX. Usually the driver compiles instead, more slowly."""
    missing = events.of("ptxas-missing")
    refused = events.unresolved("ptxas-too-old")
    old = [event for event in refused if event.fields.keys() & {"needed", "buggy", "instead"}]
    if not (missing or old):
        return None
    lines = missing or old
    later = events.unresolved("traceback", "autotuner-failed", "killed")
    fatal = [event for event in later if event.line >= lines[0].line]
    if old and (not missing or "buggy" in old[0].fields):
        lines, reads = [*old, *missing], old[0].fields
        end = f" is refused: version {reads['buggy']} has known bugs" if "buggy" in reads else _too_old(reads)
    elif fatal or events.unresolved("ptxas-missing"):
        end = " can't be run: it is not found"
    else:
        end = " can't be run; the driver compiled instead"
    summary = f"ptxas, with which XLA compiles for the GPU,{end}."
    return Cause(summary, [*lines[:2], *fatal[:1]], None if fatal else Severity.WARNING)
