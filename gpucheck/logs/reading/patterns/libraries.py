"""Shared libraries: opened, absent, damaged, or of the wrong version, as the dynamic loader and its callers put it."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, named

# Nothing that training needs: absent on healthy machines, and named in their logs.
_OPTIONAL = re.compile(
    r"libnvinfer|libnvrtc|libnvjpeg|libcupti|libtpu|libnuma|librdmacm|libibverbs|libmlx|libnccl-|libamd"
    r"|libhip|libroc|libcufile|tensorrt"
    r"|libhdfs|libjvm|libnvshmem|libnvonnx|nvinfer",
    re.IGNORECASE,
)
_FILE = r"(?P<soname>\blib[\w.+-]{1,60}?\.so(?:\.[\d.]*\d)?)"


def _soname(text: str) -> str:
    """``/usr/lib/libcudnn.so.8`` -> ``libcudnn.so.8``."""
    return text.replace("\\", "/").rpartition("/")[2].strip("'\"`;,: ")


def _missing(match: "re.Match[str]") -> dict[str, str] | None:
    line = match.string.lower()
    if "nvidia-container-cli" in line or "oci runtime" in line:  # the hook's library, outside the container
        return None
    if "not found in /usr/lib/wsl/drivers/" in line:  # the hook looks at every graphics adapter of Windows
        return None
    asked = _soname(match["soname"])
    fields = {**(named(match) or {}), "soname": asked}
    if "error" in fields:
        # a library that is there can miss one that it needs in turn
        needed = re.match(r"(lib[\w.+-]+\.so[\d.]*): cannot open shared", fields["error"])
        fields["soname"] = needed[1] if needed else asked
        fields["error"] = fields["error"].rpartition(".so")[2].lstrip(".0123456789: ") or fields["error"]
    return None if _dispensable(asked, match.string) else fields


def _optional(match: "re.Match[str]") -> dict[str, str] | None:
    soname = _soname(match["soname"])
    return {"soname": soname} if _dispensable(soname, match.string) else None


def _dispensable(soname: str, line: str) -> bool:
    """Whether a program can do without the library; one that raises cannot."""
    return bool(_OPTIONAL.search(soname)) and not re.search(r"\b(?:Import|OS)Error: ", line)


def _any_of(match: "re.Match[str]") -> dict[str, str] | None:
    """Of the spellings a loader tried, the one with just the major version."""
    names = [_soname(name) for name in match["names"].split(",")]
    best = next((name for name in names if re.fullmatch(r".*\.so\.\d+", name)), names[0])
    return None if _OPTIONAL.search(best) else {"soname": best}


def _not_libc(match: "re.Match[str]") -> dict[str, str] | None:
    return {key: _soname(value) if key in ("file", "library") else value for key, value in (named(match) or {}).items()}


_DLERROR = r"" + _FILE + r": (?P<error>cannot open shared object file(?:: [\w ]+)?)"
_DYNAMIC = (
    r"Could not (?:load|open) dynamic library '(?P<soname>[^']+)'(?:;? ?dlerror: (?P<error>[^;\n]+))?"
    r"(?:; LD_LIBRARY_PATH: (?P<searched>[^\s;]+))?"
)

PATTERNS = (
    Pattern(
        Kind.LIBRARY_OPENED,
        ("successfully opened",),
        r"[Ss]uccessfully opened (?:dynamic|CUDA) library (?P<soname>\S+)",
        lambda match: {"soname": _soname(match["soname"])},
    ),
    Pattern(Kind.LIBRARY_MISSING, ("dynamic library",), _DYNAMIC, _missing, continuation_lines=3),
    Pattern(Kind.OPTIONAL_LIBRARY_MISSING, ("dynamic library",), _DYNAMIC, _optional, continuation_lines=3),
    Pattern(Kind.LIBRARY_MISSING, ("cannot open shared object",), _DLERROR, _missing, continuation_lines=1),
    Pattern(Kind.OPTIONAL_LIBRARY_MISSING, ("cannot open shared object",), _DLERROR, _optional, continuation_lines=1),
    Pattern(Kind.OPTIONAL_LIBRARY_MISSING, ("could not find tensorrt",), r"[Cc]ould not find (?P<soname>TensorRT)", _optional),
    # ldd, and whoever sums up what a loader said
    Pattern(
        Kind.LIBRARY_MISSING,
        ("libcu", "libnccl"),
        r"\b(?P<soname>lib(?:cu|nccl)[a-zA-Z_]*\.so(?:\.\d+)*)\W{0,3}(?:=> |is |was )?(?:not found\b|missing\b|ikke funnet"
        r"|nicht gefunden|no encontrad|introuvable|não encontrad|не найден|未找到|缺失|見つかり|없음)",
        _missing,
    ),
    Pattern(
        Kind.LIBRARY_MISSING,
        ("library cu", "library lib", ".dll is", "cannot be found", "could not be found"),
        r"(?:Library (?P<soname>(?:cu|lib)[\w.-]+?\.(?:dll|so)[.\d]*) is not found"
        r"|\b(?P<named>cu\w+64_\d+\.dll|lib(?:cu|nccl)\w*\.so(?:\.\d+)*)\W{1,4}"
        r"(?:is |was )?(?:not found|missing|(?:cannot|could not) be found))",
        lambda match: {"soname": match["soname"] or match["named"]},
    ),
    Pattern(
        Kind.LIBRARY_MISSING,
        tuple(f"{verb} {quote}lib" for verb in ("to load", "not load", "to open", "not open") for quote in ("", "'", "`")),
        r"(?i:could not|failed to|unable to) (?:load|open) ['\"`]?(?P<soname>lib(?:cu|nv|nccl)[\w.-]*?\.so(?:\.\d+)*)"
        r"(?!\S*: (?!cannot open shared object file: No such))",
        _missing,
    ),
    Pattern(  # a link from one number to another is no cure for that
        Kind.LIBRARY_MISSING, ("requir",), r"\brequire[sd]?\b[^\n]{0,40}?\b(?P<soname>libcu\w+\.so\.\d+)\b[^\n]{0,20}?\bbut\b"
    ),
    Pattern(
        Kind.LIBRARY_MISSING,
        ("unable to load any of",),
        r"Unable to load any of \{(?P<names>[^}]+)\}",
        _any_of,
        continuation_lines=3,
    ),
    # TensorFlow 1, and Windows
    Pattern(
        Kind.LIBRARY_MISSING,
        ("open cuda library", "could not locate", "could not find", "could not load library"),
        r"(?:Couldn't open CUDA library|Could not (?:locate|find"
        r"|load library)) ['\"`]?(?P<soname>(?:lib)?cu[\w.-]+?\.so(?:\.\d+)*|lib[\w.-]+?\.so(?:\.\d+)*|[\w.-]+\.dll)\b"
        r"(?:\.? Error: (?P<error>[^\n]+))?",
        _missing,
    ),
    Pattern(
        Kind.LIBRARY_MISSING,
        ("unable to load cu", "unable to load nv", "cannot load lib", "find libnvidia-ml", "find libcuda"),
        r"(?:Unable to load|[Cc]annot load) (?P<soname>cu(?:DNN|BLAS|SOLVER|SPARSE|FFT|PTI)|lib(?:cu|nv)[\w.-]+)"
        r"|find (?:the )?(?P<driver>lib(?:nvidia-ml|cuda)[\w.]*)",
        lambda match: {"soname": _soname(match["soname"] or match["driver"])},
    ),
    # -- there, and unusable --
    Pattern(
        Kind.LIBRARY_CORRUPT,
        (
            "file too short",
            "invalid elf header",
            "wrong elf class",
            "exec format error",
            "cannot read file data",
            "file truncated",
        ),
        r"(?<![\w./+-])(?P<soname>[\w./+-]{1,160}\.so(?:\.[\d.]{0,20}\d)?): (?P<error>file too short|invalid"
        r" ELF header|wrong ELF class[:\w ]*"
        r"|cannot open shared object file: Exec format error|cannot read file data[:\w ]*|file not recognized: File truncated)",
        lambda match: {**(named(match) or {}), "soname": _soname(match["soname"])},
        continuation_lines=1,
    ),
    Pattern(
        Kind.LIBRARY_CORRUPT, ("winerror 193",), r"(?P<error>\[WinError 193\] [^\n]{0,60})(?:.{0,80}?(?P<soname>[\w.-]+\.dll))?"
    ),
    Pattern(
        Kind.SYMBOL_MISSING,
        ("undefined symbol",),
        r"(?<![^\s:])(?P<file>[^\s:]{1,160}?\.so[\w.]{0,40}): undefined symbol: (?P<symbol>[\w@.$]+)(?:,"
        r" version (?P<version>[\w.]+))?",
        _not_libc,
        continuation_lines=3,
    ),
    Pattern(
        Kind.SYMBOL_MISSING,
        ("undefined symbol",),
        r"undefined symbol: (?P<symbol>[\w@.$]+)(?:, version (?P<version>[\w.]+))?",
        continuation_lines=3,
    ),
    Pattern(
        Kind.SYMBOL_MISSING,
        ("not defined in file",),
        r"(?:(?<![^\s:])(?P<file>[^\s:]{1,160}?\.so[\w.]{0,40}): )?symbol (?P<symbol>\S{1,160}?),? version "
        r"(?P<version>\S{1,60}) not defined in "
        r"file (?P<library>\S+)",
        _not_libc,
        continuation_lines=3,
    ),
    # cut off, or in two strings of a program
    Pattern(
        Kind.SYMBOL_MISSING,
        (": symbol ",),
        r"(?<![^\s:])(?P<file>[^\s:]{1,160}?\.so[\w.]{0,40}): symbol\b\W{1,8}(?P<symbol>(?:cu|nv|nccl)\w*[A-Z]\w+)",
        _not_libc,
        continuation_lines=1,
    ),
    Pattern(
        Kind.SYMBOL_MISSING,
        ("' not found",),
        r"(?<![^\s:])(?P<library>[^\s:]{1,160}?\.so[\w.]{0,40}): version [`'](?P<version>[^']{1,60})' not found"
        r"(?: \(required by (?P<file>[^)]{1,400})\))?",
        _not_libc,
        continuation_lines=3,
    ),
    Pattern(
        Kind.SYMBOL_MISSING, ("load symbol",), r"(?:Cannot|Could not|Unable to) load symbol (?P<symbol>\w+)", continuation_lines=3
    ),
)
