"""NVML, nvidia-smi and the libraries on top of them."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading import codes
from gpucheck.logs.reading.patterns import SAYS, Pattern, fixed, named

_UNANSWERED = {"2", "3", "6", "7", "13", "21", "25", "26"}  # one query that this GPU or driver does not know


def _result(match: "re.Match[str]") -> dict[str, str] | None:
    fields = named(match) or {}
    spelled = fields.get("name") or fields.get("message", "")
    result = codes.nvml(spelled) or codes.nvml(f"NVML_{spelled.partition(' ')[0]}")  # Go's bindings leave the prefix out
    if result is not None:
        if result.code in _UNANSWERED:
            return None
        fields |= {"code": result.code, "name": result.name}
        fields.setdefault("message", result.message)
    return fields


def _handle(match: "re.Match[str]") -> dict[str, str] | None:
    """A GPU whose handle is "Not Found" is gone, though the same words elsewhere are of one query only."""
    return _result(match) or {**(named(match) or {}), "code": "28", "name": "NVML_ERROR_GPU_NOT_FOUND"}


def _named(name: str) -> dict[str, str] | None:
    result = codes.nvml(name)
    return (
        None if result is None or result.code in _UNANSWERED else {"code": result.code, "name": name, "message": result.message}
    )


PATTERNS = (
    Pattern(Kind.NVML_FAILED, ("initialize nvml",), r"(?:Failed|Unable) to initialize NVML: (?P<message>[^\n.]+)", _result),
    Pattern(Kind.NVML_FAILED, ("nvml error",), r"(?i:nvml error): (?P<message>[\w /]+)", _result),
    Pattern(Kind.NVML_FAILED, ("nvmlerror_",), r"(?P<name>NVMLError_\w+)(?:: (?P<message>[^\n]+))?", _result),
    Pattern(
        Kind.NVML_FAILED,
        ("nvml",),
        r"(?i:nvml)[^\n]{0,60}?[: ](?P<name>ERROR_[A-Z_]+)",
        lambda match: _named("NVML_" + match["name"]),
    ),
    Pattern(
        Kind.NVML_FAILED, ("nvmlinit",), r"\bnvmlInit\w*\([^)\n]{0,12}\)" + SAYS + r"(?P<code>4|9|1[0-9]|2[0-8]|999)\b(?![.\d])"
    ),
    Pattern(Kind.NVML_FAILED, ("init failure",), r"\bnvml(?: \w+)? init failure: (?P<code>\d+)"),  # Ollama
    Pattern(Kind.NVML_FAILED, ("failed to query nvidia devices",), r"Failed to query NVIDIA devices", fixed(code="9")),
    Pattern(Kind.NVML_FAILED, ("nvml_error_",), r"(?P<name>NVML_ERROR_[A-Z_]+)", _result),
    Pattern(
        Kind.NVML_FAILED,
        ("communicate with the nvidia driver", "can't communicate with", "nvidia-smi has failed"),
        r"(?:couldn\Wt|can\Wt|could not|cannot) communicate with the NVIDIA driver"
        r"|NVIDIA-SMI has failed because it \S+(?: not)? communicate",
        fixed(code="9", name="NVML_ERROR_DRIVER_NOT_LOADED"),
        continuation_lines=3,
    ),
    Pattern(
        Kind.NVML_FAILED,
        ("find libnvidia-ml",),
        r"(?:couldn't|could not|cannot) find (?:the )?libnvidia-ml",
        fixed(code="12", name="NVML_ERROR_LIBRARY_NOT_FOUND"),
        continuation_lines=3,
    ),
    Pattern(Kind.NVML_FAILED, ("driver not loaded",), r"^(?P<message>Driver Not Loaded)\.?$", _result),
    Pattern(Kind.NVML_FAILED, ("nvml shared library not found",), r"(?P<message>NVML Shared Library Not Found)", _result),
    Pattern(
        Kind.NVML_FAILED,
        ("no devices were found",),
        r"^No devices were found\.?$|[\"']No devices were found\.?(?:\\n)?[\"']"
        r"|nvidia-smi\b\W{0,6}(?:\w+\W{1,3}){0,3}No devices were found",
        fixed(code="28", name="NVML_ERROR_GPU_NOT_FOUND"),
    ),
    Pattern(
        Kind.NVML_FAILED,
        ("determine the device handle",),
        r"Unable to determine the device handle for (?P<device>GPU ?[\w:.]*?(?:: [\w:]+\.\d)?): (?P<message>[A-Za-z][^\n]*)",
        _handle,
        continuation_lines=3,
    ),
    Pattern(Kind.NVML_FAILED, ("version mismatch",), r"(?P<message>(?i:driver/library version mismatch))", _result),
    Pattern(Kind.NVML_FAILED, ("gpu is lost", "gpu_is_lost"), r"(?P<message>GPU is lost)", _result),
    Pattern(
        Kind.NVML_FAILED,
        ("access blocked by the",),
        r"GPU access blocked by the (?:operating system|OS\b)",
        fixed(code="17", name="NVML_ERROR_OPERATING_SYSTEM", message="GPU access blocked by the operating system"),
    ),
    # Slurm's AutoDetect=nvml
    Pattern(
        Kind.SCHEDULER_WITHOUT_NVML,
        ("nvml functionality",),
        r"configured (?:to autodetect|with) nvml functionality, but (?:we weren't able to find that lib|that lib wasn't found)",
        fixed(),
        continuation_lines=1,
    ),
    # nvidia-smi adds this line to a mismatch only
    Pattern(Kind.DRIVER_MISMATCH, ("nvml library version",), r"^NVML library version: (?P<library>[\d.]+\d)"),
    # -- nvidia-smi's tables: context --
    Pattern(
        Kind.DRIVER_VERSION,
        ("driver version",),
        r"\bDriver Version *: *(?P<kernel>\d[\d.]*\d)(?:.{0,20}?CUDA Version *: *(?P<cuda>\d[\d.]*\d))?",
        continuation_lines=3,
    ),
    Pattern(
        Kind.DRIVER_LISTS_GPU,
        ("uuid: gpu-", "uuid: mig-"),
        r"^GPU (?P<index>\d+): (?P<name>[^\n(]{2,60}?) \(UUID: (?P<uuid>(?:GPU|MIG)-[\w-]+)\)",
    ),
    Pattern(Kind.GPU_MEMORY_USED, ("mib",), r"(?P<used_mb>\b\d{1,9}) ?MiB */ *(?P<total_mb>\d+) ?MiB"),
    Pattern(
        Kind.GPU_PROCESS,
        ("mib",),
        r"^(?P<gpu>\d+) +(?:N/A +N/A +|\d+ +\d+ +)?(?P<pid>\d+) +(?P<type>[CGM+]{1,3}) +(?P<name>\S(?:.*\S)?)"
        r" +(?P<memory_mb>\d+) ?MiB$",
    ),
    # PyTorch names the others on the GPU
    Pattern(Kind.GPU_PROCESS, ("memory in use",), r"Process (?P<pid>\d+) has (?P<memory>[\d.]+ [KMGT]iB) memory in use"),
    Pattern(Kind.GPU_SMI_ERROR, ("inforom is corrupted",), r"infoROM is corrupted"),
    Pattern(Kind.GPU_SMI_ERROR, ("err!",), r"\bERR!", fixed()),
)
