"""CUDA results: cuInit and what takes its place in other frameworks, the driver's age, and everything later."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading import codes
from gpucheck.logs.reading.patterns import SAYS, Pattern, fixed, named
from gpucheck.logs.reading.words import NO_COMMAND

_INIT_CALLS = ("cuinit", "cudagetdevicecount()")
_HARMLESS = {"0", "4", "600", "704"}  # success; the driver shutting down; not ready yet; enabled before


def _result(match: "re.Match[str]") -> dict[str, str] | None:
    """code, name and message of whatever the pattern caught: a number, a name or a sentence."""
    caught = named(match) or {}
    spelled = next((caught[key] for key in ("name", "code", "number", "message") if key in caught), "")
    result = codes.cuda(spelled)
    if result is None and "message" in caught:
        result = codes.cuda(caught["message"])
    fields = {key: value for key, value in caught.items() if key in ("call", "message", "name", "code")}
    if result is not None:
        fields |= {"code": result.code, "name": fields.get("name", result.name)}
        fields.setdefault("message", result.message)
    if fields.get("code") in _HARMLESS:
        return None
    return fields


def _init(match: "re.Match[str]") -> dict[str, str] | None:
    fields = _result(match)
    if fields is not None:
        fields.pop("call", None)
    return fields


def _later(match: "re.Match[str]") -> dict[str, str] | None:
    """A result that is neither cuInit's nor a device count's."""
    line = match.string.lower()
    if any(call in line for call in _INIT_CALLS) or " bytes on host" in line:
        return None
    fields = _result(match)
    return fields if fields and ("code" in fields or "name" in fields) else None


_NAME = r"(?P<name>CUDA_ERROR_[A-Z0-9_]+)"
_MESSAGE = r"(?:: ?(?P<message>[^\n\"\[]{3,120}))?"

PATTERNS = (
    Pattern(
        Kind.CUINIT_FAILED,
        ("cuinit",),
        r"cuInit\b(?:.{0,100}?)(?:"
        + _NAME
        + r"|UNKNOWN ERROR \((?P<code>-?\d+)\)|(?:CUresult|error code)\W{1,2}(?P<number>\d+))"
        + _MESSAGE,
        _init,
        continuation_lines=1,
    ),
    Pattern(Kind.CUINIT_FAILED, ("cuinit",), _NAME + r"(?:: (?P<message>[\w -]+?))?(?: while| in| from).{0,30}\bcuInit\b", _init),
    Pattern(
        Kind.CUINIT_FAILED,
        ("cuinit",),
        r"(?:fail\w*|error)\b.{0,30}\bcuInit\b\W{0,4}(?:failed|returned|error)?(?: with)?(?: code"
        r"| error)?[ :=]+(?P<code>\d{1,3})\b",
        _init,
    ),
    Pattern(
        Kind.CUINIT_FAILED,
        ("cuinit",),
        r"(?i:failed call to cuInit|cuInit(?:\(\w*\))? failed)\W+(?P<message>[A-Za-z][^\n]{5,120})",
        _init,
        continuation_lines=3,
    ),
    # PyTorch counts devices instead
    Pattern(
        Kind.CUINIT_FAILED,
        ("cudagetdevicecount",),
        r"cudaGetDeviceCount\(\).{0,200}?Error (?P<code>\d+): (?P<message>[^(\n]+)",
        _init,
        continuation_lines=3,
    ),
    Pattern(
        Kind.CUINIT_FAILED,
        ("cudagetdevicecount",),
        r"cudaGetDeviceCount.{0,40}?(?P<name>cudaError[A-Z]\w+)",
        _init,
        continuation_lines=3,
    ),
    Pattern(
        Kind.CUINIT_FAILED,
        ("cuda driver initialization failed",),
        r"\bCUDA driver initialization failed\b",
        fixed(message="CUDA driver initialization failed"),
    ),
    Pattern(Kind.CUINIT_FAILED, ("cuda unknown error",), r"\b(?P<message>CUDA unknown error)\b", _init),
    # a call and its number, whatever word of whatever language stands between them
    Pattern(
        Kind.CUINIT_FAILED,
        ("cuinit(",),
        r"\bcuInit\([^)\n]{0,12}\) {0,8}" + SAYS + r"(?P<code>3[456]|46|10[01]|30[34]|80\d|999)\b(?![.\d])",
        _init,
    ),
    # results that only the start can give, by their sentence alone
    Pattern(
        Kind.CUINIT_FAILED,
        ("forward compatibility was attempted", "unsupported display driver", "is a stub library"),
        r"(?P<message>forward compatibility was attempted|system has unsupported display driver|CUDA driver is a stub library)",
        _init,
    ),
    Pattern(
        Kind.CUINIT_FAILED,
        ("no cuda gpus are available", "no visible gpu devices", "no supported devices found for platform cuda"),
        r"(?P<message>No CUDA GPUs are available|No visible GPU devices|no supported devices found for platform CUDA)",
        fixed(code="100", name="CUDA_ERROR_NO_DEVICE"),
    ),
    Pattern(
        Kind.CUINIT_FAILED,
        ("no cuda-capable device",),
        r"(?P<message>no CUDA-capable device is (?:detected|available))",
        fixed(code="100", name="CUDA_ERROR_NO_DEVICE"),
    ),
    # JAX, where what it says next is not about a library
    Pattern(
        Kind.CUINIT_FAILED,
        ("cuda backend failed",),
        r"(?P<message>CUDA backend failed to initialize)(?!: (?:Found|Unable to load) )",
        _init,
    ),
    # Ollama and llama.cpp
    Pattern(Kind.CUINIT_FAILED, ("init failure",), r"(?:cuda driver library|cudart)(?: \w+)? init failure: (?P<code>\d+)", _init),
    Pattern(Kind.CUINIT_FAILED, ("failed to initialize cuda",), r"[Ff]ailed to initialize CUDA: (?P<message>[^\n(\"]+)", _init),
    # nvidia-container-cli initialises CUDA before the container starts
    Pattern(
        Kind.CUINIT_FAILED,
        ("cuda error:",),
        r"initialization error: cuda error: (?P<message>[\w /]+)",
        _init,
        continuation_lines=3,
    ),
    # a stub that a process, or its loader, really has: ldd, a table of mappings, lsof, a debugger, a tracer, and whoever says so
    Pattern(
        Kind.STUB_LOADED,
        ("stubs/libcuda",),
        r"(?P<path>(?:=> ?|^[0-9a-f]{6,16}-[0-9a-f]{6,16} [rwxps-]{4} .{0,120}?|\b(?:mem|txt|DEL) +REG .{0,80}?|\bYes\b.{0,20}? "
        r"|(?i:\b(?:loaded|opened|mapped|using)\b(?: library)?(?: from)?[: ]*['\"]?)|open(?:at)?\([^)\n]{0,40}\"|calling init: )"
        r"\S*/stubs/libcuda\.so[.\d]*(?![^\n]{0,60}= ?-1\b))",
        lambda match: {"path": match["path"].split()[-1].rpartition('"')[2]},
    ),
    Pattern(  # Numba
        Kind.STUB_LOADED,
        ("mapped libcuda.so paths",),
        r"Mapped libcuda\.so paths: *(?P<path>/\S*/stubs/libcuda\.so[.\d]*)",
        continuation_lines=1,
    ),
    # -- the driver --
    Pattern(
        Kind.DRIVER_TOO_OLD,
        ("driver version is insufficient", "cudaerrorinsufficientdriver"),
        r"(?i:CUDA driver version is insufficient)|cudaErrorInsufficientDriver",
    ),
    Pattern(
        Kind.DRIVER_TOO_OLD,
        ("too old",),
        r"NVIDIA driver on your system is too old(?: \(found version (?P<version>\d+)\))?"
        r"|\bdriver (?:is )?too old \(found (?:version )?(?P<short>\d+)\)",
        lambda match: {"version": found} if (found := match["version"] or match["short"]) else {},
        continuation_lines=3,
    ),
    Pattern(
        Kind.DRIVER_TOO_OLD,
        ("unsatisfied condition",),
        r"unsatisfied condition: (?P<condition>cuda|driver) ?>=? ?(?P<needed>[\d.]+\d)",
        continuation_lines=3,
    ),
    Pattern(
        Kind.DRIVER_ABSENT,
        ("found no nvidia driver", "nvidia-smi: command not found", "nvidia-smi: not found"),
        r"Found no NVIDIA driver on your system|nvidia-smi: (?:command )?not found",
    ),
    Pattern(
        Kind.DRIVER_ABSENT,
        ("nvidia-smi",),
        rf"nvidia-smi\W{{0,3}}(?:{NO_COMMAND})|command not found: nvidia-smi|Command 'nvidia-smi' not found",
    ),
    # a program that goes on without says so in passing
    Pattern(
        Kind.DRIVER_ABSENT,
        ("no nvidia",),
        r"(?i:\b(?:error|fail\w*|fatal|exception)\b.{0,60}\bno NVIDIA (?:GPU |display )?drivers? (?:was |were |is )?"
        r"(?:found|detected|installed|present))(?!.*(?i:\bcpu\b))",
    ),
    # -- NVSwitch, forks --
    Pattern(
        Kind.FABRIC_NOT_READY,
        ("system_not_ready", "systemnotready", "system not yet initialized", "fabric_not_ready", "fabricnotready"),
        r"CUDA_ERROR_SYSTEM_NOT_READY|cudaErrorSystemNotReady|system not yet initialized|(?i:error_?Fabric_?Not_?Ready)",
        fixed(),
    ),
    Pattern(
        Kind.FABRIC_NOT_READY,
        ("fabricmanager", "fabric manager"),
        r"(?i:fabric ?manager)(?:\.service)?\b.{0,80}?(?P<message>(?i:\bfailed\b|not running|not started"
        r"|inactive|don't match|mismatch"
        r"|failed to start|could not be found).{0,80})",
        continuation_lines=1,
    ),
    Pattern(
        Kind.CUDA_USED_AFTER_FORK,
        ("initialize cuda in fork", "re-initialized in", "after fork"),
        r"[Cc]annot (?:be )?re-?initialized?(?: CUDA)? in (?:a )?forked (?:sub|child )process"
        r"|CUDA.{0,60} after fork(?:ing|\(\))?",
        fixed(),
        continuation_lines=1,
    ),
    # -- everything later; the call is what stands before the result --
    Pattern(
        Kind.CUDA_ERROR,
        ("cuda_error_",),
        r"(?:(?P<call>\bcu[A-Z]\w+|[Ff]ailed (?:to )?[a-z]+(?: [a-z]+)?)[^\n]{0,60}?\W)?" + _NAME + _MESSAGE,
        _later,
    ),
    Pattern(Kind.CUDA_ERROR, ("cudaerror",), r"\b(?P<name>cudaError[A-Z]\w+)" + _MESSAGE, _later, continuation_lines=1),
    Pattern(Kind.CUDA_ERROR, ("failed. status:",), r"(?P<call>cuda\w+)\(\).{0,30}? failed\. Status: (?P<message>[^\n]+)", _later),
    Pattern(
        Kind.CUDA_ERROR,
        ("cuda error", "cuda runtime error"),
        r"(?:CUDA|cuda)(?: runtime)? error(?: ?\((?P<code>\d+)\))?(?: [:,]|[:,]) (?P<message>[A-Za-z][^\n]+)",
        _later,
    ),
    Pattern(Kind.CUDA_ERROR, ("cuda error",), r"\bCUDA error(?: code)?[ :=]{1,3}(?P<code>\d{2,3})\b", _later),
    Pattern(
        Kind.CUDA_ERROR,
        ("cuda failure",),
        r"Cuda failure(?: [\w./]+:\d+)? '?(?P<message>[\w][\w' -]*)",
        _later,
        continuation_lines=1,
    ),
    Pattern(
        Kind.CUDA_ERROR,
        ("busy or unavailable", "illegal memory access", "device-side assert", "unspecified launch failure", "device ordinal"),
        r"(?P<message>(?:all )?CUDA-capable devices?(?:\(s\))? (?:is/)?are busy or unavailable"
        r"|an illegal memory access was encountered"
        r"|device-side assert triggered|unspecified launch failure|invalid device ordinal)",
        _later,
    ),
    Pattern(
        Kind.ECC_UNCORRECTABLE,
        ("ecc_uncorrectable", "eccuncorrectable", "uncorrectable ecc error"),
        r"CUDA_ERROR_ECC_UNCORRECTABLE|cudaErrorECCUncorrectable|(?i:uncorrectable ECC error)(?! *counts?\b)(?!s? *:? *0\b)",
    ),
)
