"""The system underneath: Windows, WSL, macOS and AMD's ROCm."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed, named
from gpucheck.logs.reading.words import UNSUPPORTED, ascii_words


def _rocm(match: "re.Match[str]") -> dict[str, str] | None:
    """JAX and TensorFlow mention ROCm on every machine; only its own calls and libraries mean that it is in use."""
    unfit = match.groupdict().get("unsupported")
    if not unfit and ("Unable to initialize backend" in match.string or re.search(r"\(device: [1-9]", match.string)):
        return None  # the CPU's own graphics are passed over beside the GPU that is used
    return named(match)


_NO_CODE = (  # results that mean: no kernel was compiled for this GPU
    r"hipError(?:NoBinaryForGpu|InvalidDeviceFunction|InvalidImage|InvalidKernelFile)|HSA_STATUS_ERROR_INVALID_(?:ISA|CODE_OBJECT)\w*"
    r"|(?i:\bHIP (?:runtime )?error\W{1,4}(?:invalid device function|no kernel image|device kernel image is invalid))"
)

PATTERNS = (
    Pattern(
        Kind.WINDOWS_NATIVE,
        ("native windows",),
        r"(?i:GPU[^\n]{0,40}not (?:available|supported) on native[- ]Windows"
        r"|native[- ]Windows[^\n]{0,40}GPU[^\n]{0,30}not (?:available|supported))",
        fixed(),
    ),
    Pattern(
        Kind.WINDOWS,
        ("win_amd64", "c:\\", "d:\\", "powershell", "site-packages\\", ".dll"),
        r"(?P<message>[\w.-]{0,80}win_amd64\S*|(?:^|[\s\"'(])(?:PS )?[A-Za-z]:\\[\w .\\-]{0,60}|\b(?:cudart|cublas"
        r"|cudnn|cufft|nvcuda)\w*\.dll)",
    ),
    Pattern(
        Kind.MACOS,
        ("metal device set to", "macosx_", "tensorflow-macos", "tensorflow-metal", "pluggabledevice", "/users/", "darwin"),
        r"Metal device set to|macosx_\d+_\d+_\w+|tensorflow-(?:macos|metal)\b|(?:^|[\s\"'])/Users/\w|\bDarwin\b",
        fixed(),
    ),
    Pattern(
        Kind.WSL,
        ("wsl environment detected", "libdxcore", "/usr/lib/wsl", "wsl 1", "wsl1", "/dev/dxg"),
        r"(?P<message>WSL environment detected but [^\n:]+|(?i:WSL ?1\b)[^\n]{0,60}(?:not supported|no GPU"
        r"|unsupported)[^\n]{0,30}"
        r"|libdxcore\.so[^\n]{0,60}(?:not found|cannot open|No such file)"
        r"|dxcore initiali[sz]ation failed[^\n]{0,60}|/dev/dxg[^\n]{0,40}(?:No such file|not found"
        r"|does not exist))",
    ),
    # the container toolkit on the folder of NVIDIA's Windows driver; other adapters have theirs, and no such library
    Pattern(
        Kind.WSL,
        ("/usr/lib/wsl/drivers/nv",),
        r"(?P<message>\b(?P<library>lib(?:cuda|nvidia-ml)\S*) not found in /usr/lib/wsl/drivers/nv\w*\.inf\S*)",
    ),
    Pattern(
        Kind.WSL_INSIDE,
        ("/usr/lib/wsl", "microsoft-standard-wsl", "inside wsl"),
        r"/usr/lib/wsl\b\S*|microsoft-standard-WSL|(?i:\binside WSL ?2?\b)",
        fixed(),
    ),
    Pattern(
        Kind.ROCM, ("hiperror", "hsa_status_error", "hip error", "hip runtime error"), rf"(?P<unsupported>{_NO_CODE})", _rocm
    ),
    Pattern(
        Kind.ROCM,
        (
            "hipinit",
            "hip_error_",
            "hiperror",
            "libamdhip64",
            "rocdevice.cpp",
            "/dev/kfd",
            "rocm device",
            "rocm_driver",
            "hipcc",
            "tensorflow-rocm",
            "with amdgpu version",
        ),
        r"(?P<message>(?i:failed call to hipInit)[^\n]{0,60}|HIP_ERROR_\w+|hipError\w+|libamdhip64\S*"
        r"|/dev/kfd\b[^\n]{0,40}|ROCM device count[^\n]{0,40}"
        r"|tensorflow-rocm\b|with AMDGPU version[ :]+gfx\w+)",
        _rocm,
    ),
    Pattern(
        Kind.ROCM, ("gfx",), r"(?P<unsupported>\bgfx\d{3,4}\w?\b)[^\n.;|]{0,12}?(?:" + ascii_words(UNSUPPORTED) + r")", _rocm
    ),
    # rocBLAS and ggml of a GPU that their kernels were not compiled for
    Pattern(
        Kind.ROCM,
        ("tensilelibrary",),
        r"(?i:(?:cannot|could not|unable to|failed to) (?:read|open|load|find)) \S*TensileLibrary[\w.]*\b"
        r"(?:[^\n]{0,60}?(?P<unsupported>\bgfx\d{3,4}\w?\b))?",
        _rocm,
        continuation_lines=1,
    ),
    Pattern(Kind.ROCM, ("with hip arch",), r"no device code compatible with (?P<unsupported>HIP arch \d+)", _rocm),
    Pattern(
        Kind.MUSL,
        ("error relocating", "error loading shared library", "musllinux"),
        r"Error relocating \S+: \w+: symbol not found|Error loading shared library ld-linux|\bmusllinux_\d",
        fixed(),
    ),
    Pattern(
        Kind.AMD_GPU,
        ("advanced micro devices",),
        r"(?P<device>[\da-f:.]{7,12}) (?:VGA|3D|Display)[^:]{0,30}: Advanced Micro Devices, Inc\. \[AMD/ATI\] "
        r"(?P<name>[^\n(]{2,60})",
    ),
    Pattern(Kind.ARCHITECTURE, ("platform: linux_",), r"platform: linux_(?P<machine>armv\w+|i686|ppc64le|riscv64|aarch64)"),
    Pattern(Kind.ARCHITECTURE, ("gnu/linux",), r"\b(?P<machine>armv\w+|i[3-6]86|ppc64le|riscv64|s390x)\b.{0,20}GNU/Linux"),
    Pattern(Kind.ARCHITECTURE, ("aarch64",), r"(?P<machine>(?:manylinux\w*_|linux[_-])aarch64|\baarch64\b)"),
)
