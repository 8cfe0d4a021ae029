"""Kernels that do not fit the GPU: images and PTX that it rejects, compute capabilities without any, and which GPU it is."""

import re

from gpucheck.logs.events import Kind
from gpucheck.logs.reading import codes
from gpucheck.logs.reading.patterns import Pattern, named
from gpucheck.logs.reading.words import UNSUPPORTED, ascii_words


def _kernel(match: "re.Match[str]") -> dict[str, str] | None:
    if re.search(r"(?i)\bHIP (?:runtime )?error\b", match.string):
        return None  # AMD's
    result = codes.cuda(match["name"]) if match["name"] else None
    fields = named(match) or {}
    if result is not None:
        fields |= {"name": result.name, "code": result.code}
    return fields


def _one_gpu(match: "re.Match[str]") -> dict[str, str] | None:
    """Several GPUs in one line tell as little as none."""
    names = {found["gpu"].lower() for found in re.finditer(_GPU, match.string[: match.endpos])}
    return named(match) if len(names - {"blackwell"}) < 2 else {"gpu": "several"}


def _without_code(match: "re.Match[str]") -> dict[str, str] | None:
    """capability as '8.6' or 'sm_86', and the GPU's name where it stands before it."""
    if "compatible with sm_" in match.string:  # of one code with another
        return None
    fields = named(match) or {}
    if fields["capability"].isdecimal():
        fields["capability"] = f"{fields['capability'][:-1]}.{fields['capability'][-1]}"
    fields |= {"code": "209", "name": "CUDA_ERROR_NO_BINARY_FOR_GPU"}
    return fields if "is not compatible" in match[0] else {**fields, "worded": "yes"}  # the rest is nobody's own message


_GPU = (
    r"(?P<gpu>\b(?:RTX|GTX) ?(?:PRO )?A?\d{3,4}(?:[ -]?Ti)?\b"
    r"|\b(?:Tesla |GB?)?(?:V100|P100|K80|M60|A100|H[12]00|B[23]00)\b|\bBlackwell\b)"
)

PATTERNS = (
    Pattern(
        Kind.KERNEL_IMAGE_MISSING,
        (
            "no_binary_for_gpu",
            "nokernelimagefordevice",
            "invaliddevicefunction",
            "invalidkernelimage",
            "cuda_error_invalid_image",
        ),
        r"(?P<name>CUDA_ERROR_NO_BINARY_FOR_GPU|CUDA_ERROR_INVALID_IMAGE|cudaErrorNoKernelImageForDevice"
        r"|cudaErrorInvalidDeviceFunction|cudaErrorInvalidKernelImage)",
        _kernel,
    ),
    Pattern(
        Kind.KERNEL_IMAGE_MISSING,
        ("no kernel image", "device kernel image is invalid", "invalid device function"),
        r"(?P<name>no kernel image (?:is )?(?:available|found)(?: for execution on the device)?|device kernel image is invalid"
        r"|invalid device function)",
        _kernel,
    ),
    Pattern(
        Kind.KERNEL_IMAGE_MISSING,
        ("is not compatible with the current",),
        r"(?:(?P<gpu>[A-Z][\w -]{2,40}?) with )?(?:CUDA capability )?(?P<capability>sm_\d+)\w? is not compatible with the "
        r"current (?P<framework>\w+) install\w*(?:.{0,80}?supports CUDA capabilities (?P<supported>sm_[\w ]+\d))?",
        lambda match: {**(named(match) or {}), "code": "209", "name": "CUDA_ERROR_NO_BINARY_FOR_GPU"},
        continuation_lines=3,
    ),
    # the same in fewer words: a capability, and close to it that there is no code for it
    Pattern(
        Kind.KERNEL_IMAGE_MISSING,
        ("sm_",),
        r"(?:\b(?P<gpu>(?:NVIDIA|GeForce|RTX|GTX|Tesla|Quadro)[\w -]{2,40}?) with )?(?:CUDA capability )?"
        r"(?P<capability>\bsm_\d{2,3})(?!\d)[^\n.;|]{0,16}?(?:is not defined|"
        + ascii_words(UNSUPPORTED)
        + r")(?![^\n]{0,12}\bsm_)",
        _without_code,
    ),
    Pattern(
        Kind.KERNEL_IMAGE_MISSING,
        ("sm_",),
        r"(?:\b(?:no|not|without|lacks?|lacking|missing|reject(?:s|ed))\b|n't\b|不支持|没有|沒有|缺少|не поддержива\w+)"
        r"[^\n.;:|]{0,24}?(?P<capability>\bsm_\d{2,3})"
        r"(?: (?:kernels?|code|support|binaries|cubins?)\b)?",
        _without_code,
    ),
    Pattern(
        Kind.KERNEL_IMAGE_MISSING,
        ("kernels for sm_",),
        r"kernels? for (?P<supported>sm_[\d/, sm_]*\d) only",
        lambda match: {**(named(match) or {}), "code": "209", "name": "CUDA_ERROR_NO_BINARY_FOR_GPU", "worded": "yes"},
    ),
    Pattern(
        Kind.KERNEL_IMAGE_MISSING,
        ("compute capability",),
        r"(?:\b(?:cannot|can't|not) (?:execute|run|support\w*)|\bcompatible \w+ (?:extension|kernel)s? for|\bunsupported|不支持)"
        r"[^\n.;:|]{0,24}?"
        r"compute capability (?P<capability>\d{1,2}\.\d|\d\d)\b",
        _without_code,
    ),
    # ggml, which writes 8.6 as 860
    Pattern(
        Kind.KERNEL_IMAGE_MISSING,
        ("with cuda arch",),
        r"no device code compatible with CUDA arch (?P<arch>\d{3,4})\b",
        lambda match: {
            "capability": f"{int(match['arch']) // 100}.{int(match['arch']) // 10 % 10}",
            "code": "209",
            "name": "CUDA_ERROR_NO_BINARY_FOR_GPU",
        },
    ),
    # which GPU a text is about, where nothing that queried it says so
    Pattern(
        Kind.GPU_NAMED,
        ("rtx", "gtx", "v100", "p100", "k80", "m60", "a100", "h100", "h200", "b200", "blackwell"),
        _GPU + r"(?:[^\n\d]{1,20}\b(?P<capability>sm_\d{2,3}))?",
        _one_gpu,
    ),
    Pattern(
        Kind.PTX_UNSUPPORTED,
        ("invalid_ptx", "unsupported_ptx_version", "errorinvalidptx", "unsupportedptxversion"),
        r"(?P<name>CUDA_ERROR_INVALID_PTX|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|cudaErrorInvalidPtx|cudaErrorUnsupportedPtxVersion)",
        _kernel,
    ),
    Pattern(
        Kind.PTX_UNSUPPORTED,
        ("a ptx jit compilation failed", "unsupported toolchain"),
        r"(?P<name>a PTX JIT compilation failed|the provided PTX was compiled with an unsupported toolchain)",
        _kernel,
    ),
)
