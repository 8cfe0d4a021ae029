"""Shared libraries: opened, absent, damaged, or of the wrong version, as the dynamic loader and its callers put it."""

import re

from gpucheck.core.logs.reading.patterns import named

# Nothing that training needs: absent on healthy machines, and named in their logs.
_OPTIONAL = re.compile(
    r"libnvinfer|libnvrtc|libnvjpeg|libcupti|libtpu|libnuma|librdmacm|libibverbs|libmlx|libnccl-|libamd"
    r"|libhip|libroc|libcufile|tensorrt"
    r"|libhdfs|libjvm|libnvshmem|libnvonnx|nvinfer",
    re.IGNORECASE,
)


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


def _file(match: "re.Match[str]") -> dict[str, str] | None:
    fields = named(match) or {}
    return {**fields, "soname": _soname(fields["soname"])}


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
