"""What a pasted log says about CUDA's libraries: one reading of all its lines, from which each rule takes its own case.

A loader says no more than that a file could not be opened. Whether it is absent, lies where nobody looks, or belongs to
another CUDA follows from what else was opened, searched and installed.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from gpucheck.model import Fix
from gpucheck.probes.log import Event, Log
from gpucheck.rules._log import stated
from gpucheck.rules._start import ending, unserved

INSTALL = Fix(
    text="Install a TensorFlow with its CUDA libraries, which it finds by itself",
    command='python -m pip install "tensorflow[and-cuda]==2.20.*"',
)
_OF_CUDA = r"(?i)^(?:lib)?(?:cu(?!da\.so|da\.1)|nv(?!cuda|idia|ml|infer|onnx)|nccl)"
_CUDNN = r"(?i)^(?:lib)?cudnn"
_NUMBERED_AS_CUDA = r"(?i)^(?:lib)?(cudart|cublas(?:Lt)?|cusparse|nvrtc)(?:\.so\.|64_)(\d+)"
_TOOLKIT = r"(?i:/cuda[-/])(\d+)\.\d"
_ABSENT = r"(?i)cannot open shared object file(?!: Exec)|no such file|not found$|\.dll not found"
_OF_A_FRAMEWORK = r"(?i)^lib(?:torch|c10)|torch|jaxlib|xla"
_CUDNN_TRIED = ("cudnn-failed", "cudnn-version-mismatch", "out-of-memory")  # it was there, and failed for a reason of its own
_STATED = ("cudnn-missing", "cuda-libraries-missing", "cuda-libraries-unreachable", "cuda-version-mismatch")
_BELOW = ("google.protobuf", "numpy")
_SYMBOL_OF_CUDA = r"^(?:__nv|nccl|nv|cu(?:blas|dnn|sparse|solver|fft|rand|da)?[A-Z])"


class Loading(NamedTuple):
    """Why CUDA's libraries could not be used."""

    code: str  # of the rule that names it
    events: list[Event]  # the lines it follows from
    sonames: list[str]  # the libraries they name
    failed: bool  # a program failed on account of it, or TensorFlow gave its GPUs up
    majors: tuple[int, int] | None = None  # the CUDA that was looked for, and the one that is there


def loading(log: Log) -> Loading | None:
    """The one case that the log shows; None if no library is missed, or CUDA has no GPU to offer anyway."""
    given_up = unserved(log, "gpu-libraries-missing")
    no_runtime = unserved(log, "cuda-runtime-unavailable")
    missing = [event for event in unserved(log, "library-missing") if _missed(event)]
    conflicts = [event for event in unserved(log, "symbol-missing") if conflicting(event)]
    if missing:  # a symbol that is asked of nothing follows from it
        conflicts = [event for event in conflicts if event.fields.get("file") or event.fields.get("library")]
    raised = _raised(log, [*missing, *conflicts])
    failed = bool(given_up or raised)
    if conflicts:
        return Loading("library-path-conflict", conflicts, _names(conflicts, "library", "file"), True)
    if not given_up and any(event.fields.get("module") in _BELOW for event in unserved(log, "import-failed")):
        return None  # what TensorFlow itself stands on ended it
    absent = [] if unserved(log, *_CUDNN_TRIED) else unserved(log, "cudnn-absent")
    if absent and not (missing or given_up or no_runtime):
        return Loading("cudnn-missing", absent, [], True)
    packages = unserved(log, "cuda-package-missing")
    if packages and not (missing or given_up or no_runtime):
        return Loading("cuda-libraries-missing", packages, _names(packages, "package"), True)
    for code in _STATED:
        if said := stated(log, code):
            return Loading(code, said, [], False)
    if not (missing or given_up or no_runtime) or (ending(log) is not None and not failed):
        return None
    if not missing:
        code = "cuda-libraries-unreachable" if _installed(log) else "cuda-libraries-missing"
        return Loading(code, [*given_up[:1], *no_runtime[:1]], [], failed)
    names = _names(missing, "soname")
    told = [*missing[:3], *given_up[:1]]
    majors = _majors(log, missing)
    if majors is not None:
        return Loading("cuda-version-mismatch", told, names, failed, majors)
    if all(re.match(_CUDNN, name) for name in names):
        return Loading("cudnn-missing", told, names, failed)
    if _installed(log) or _as_2_21_0(log, names):
        return Loading("cuda-libraries-unreachable", told, names, failed)
    return Loading("cuda-libraries-missing", told, names, failed)


def conflicting(event: Event) -> bool:
    """Whether the copy of a CUDA library that was found is not the one that its caller was built with."""
    parts = [event.fields.get(name, "") for name in ("file", "library", "version")]
    if any(re.match(_OF_CUDA, part) for part in parts):
        return True
    named = event.fields.get("symbol", "")
    return bool(re.match(_SYMBOL_OF_CUDA, named)) and (not parts[0] or bool(re.search(_OF_A_FRAMEWORK, parts[0])))


def _missed(event: Event) -> bool:
    """A library of CUDA, not the driver's own, that is not there; a damaged one is."""
    error = event.fields.get("error", "")
    return bool(re.match(_OF_CUDA, event.fields.get("soname", ""))) and (not error or bool(re.search(_ABSENT, error)))


def _raised(log: Log, told: list[Event]) -> bool:
    """Whether one of these lines is itself an exception, or an exception follows."""
    lines = [event.line for event in told]
    raised = [event.line for event in log.events if event.kind in ("traceback", "import-failed", "killed", "autotuner-failed")]
    return bool(lines) and any(line >= lines[0] for line in raised)


def _names(events: Iterable[Event], *fields: str) -> list[str]:
    found = (event.fields[name] for event in events for name in fields if event.fields.get(name))
    return list(dict.fromkeys(found))


def _majors(log: Log, missing: list[Event]) -> tuple[int, int] | None:
    """The CUDA major of the missing libraries and the one of what is there, where these differ throughout."""
    wanted = {number for event in missing if (number := _major(event.fields["soname"]))}
    there = {number for event in log.events if event.kind == "library-opened" and (number := _major(event.fields["soname"]))}
    for event in log.events:
        if event.kind == "cuda-toolkit":
            there.add(int(event.fields["version"].partition(".")[0]))
        there |= {int(number) for number in re.findall(_TOOLKIT, event.fields.get("searched", ""))}
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


def _installed(log: Log) -> bool:
    """Whether pip said that it laid down CUDA's libraries beside TensorFlow."""
    return any(event.kind == "package-installed" and event.fields.get("cuda") == "yes" for event in log.events)


def _as_2_21_0(log: Log, names: list[str]) -> bool:
    """cuSOLVER alone is missing and the rest of CUDA 12 was opened: TensorFlow 2.21.0 does not look into its folder."""
    opened = {event.fields.get("soname") for event in log.events if event.kind == "library-opened"}
    return names == ["libcusolver.so.11"] and "libcublas.so.12" in opened
