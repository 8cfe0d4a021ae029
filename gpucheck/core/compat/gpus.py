"""GPUs: the names that people and nvidia-smi use for them, and the architecture and precisions of a compute capability.

Sources: developer.nvidia.com/cuda-gpus and /cuda-legacy-gpus (capabilities, architectures);
rocm.docs.amd.com/en/latest/reference/gpu-arch-specs.html (AMD's chips); CUDA C++ Programming Guide, "Input Data Types
Supported by Tensor Core Acceleration per Compute Capability" (precisions); tensorflow/core/common_runtime/gpu/gpu_device.cc
(multiprocessors). Not verified: Tensor Cores of 7.0 and 7.2, laptop GPUs of the MX series.
"""

import functools
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

# Compute capability -> its architecture.
CAPABILITIES: dict[tuple[int, int], str] = {
    **dict.fromkeys(((2, 0), (2, 1)), "Fermi"),
    **dict.fromkeys(((3, 0), (3, 5), (3, 7)), "Kepler"),
    **dict.fromkeys(((5, 0), (5, 2), (5, 3)), "Maxwell"),
    **dict.fromkeys(((6, 0), (6, 1), (6, 2)), "Pascal"),
    **dict.fromkeys(((7, 0), (7, 2)), "Volta"),
    (7, 5): "Turing",
    **dict.fromkeys(((8, 0), (8, 6), (8, 7)), "Ampere"),
    (8, 9): "Ada Lovelace",
    (9, 0): "Hopper",
    (10, 0): "Blackwell",
    (10, 3): "Blackwell Ultra",
    **dict.fromkeys(((11, 0), (12, 0), (12, 1)), "Blackwell"),  # 11.0 is 10.1 in CUDA 12.8 and 12.9
}
FIRST_BLACKWELL = (10, 0)
JETSON = {(5, 3), (6, 2), (7, 2), (8, 7), (11, 0)}  # boards with their own driver and packages

# First capability whose Tensor Cores take this input type.
_TENSOR_CORES = {"float16": (7, 0), "bfloat16": (8, 0), "tf32": (8, 0)}

# gpu_device.cc, GetDefaultMinGPUMultiprocessorCount(); TF_MIN_GPU_MULTIPROCESSOR_COUNT overrides it.
LOWEST_MULTIPROCESSORS = 8


def named(name: str) -> tuple[int, int] | None:
    """Return the compute capability for a name of an NVIDIA GPU: (12, 0) for 'RTX 5070 Ti'; None if unknown."""
    found = at_start(name.lower())
    return found[1].chip if found is not None and isinstance(found[1].chip, tuple) else None


def architecture(capability: tuple[int, int]) -> str | None:
    """Return the architecture: 'Hopper' for (9, 0); None for a capability that is not in the table."""
    return CAPABILITIES.get(capability)


def supports(capability: tuple[int, int], precision: Literal["float16", "bfloat16", "tf32"]) -> bool | None:
    """Whether the GPU has Tensor Cores for the precision; None for a GPU newer than the table.

    The GeForce GTX 16 series has capability 7.5 but no Tensor Cores; only its name shows that.
    """
    return None if capability > max(CAPABILITIES) else capability >= _TENSOR_CORES[precision]


def lowest_multiprocessors(counts: Iterable[int]) -> int:
    """Return the minimum that TensorFlow applies to these visible GPUs: 8, or the maximum of them if all have fewer.

    So a small GPU is rejected only alongside a larger one, or if TF_MIN_GPU_MULTIPROCESSOR_COUNT requires more.
    """
    return min(LOWEST_MULTIPROCESSORS, max(counts, default=LOWEST_MULTIPROCESSORS))


class KnownGpu(NamedTuple):
    """The GPU that a name identifies."""

    vendor: str  # "nvidia", "amd", "apple", "intel"
    chip: tuple[int, int] | str | None  # NVIDIA: compute capability; AMD: "gfx942"; None: unknown
    architecture: str | None = None  # of the machine: "aarch64" for a GH200


_SUFFIX = r"(?: ?(?:ti|super|d|laptop|mobile|max-?q|m))*"
_ARM, _X86 = "aarch64", "x86_64"

# (pattern, chip, architecture); the first that matches the most text wins.
_NVIDIA: tuple[tuple[str, tuple[int, int], str | None], ...] = (
    (r"(?:jetson )?(?:agx )?thor|jetson t[45]000", (11, 0), _ARM),
    (r"(?:jetson )?(?:agx )?orin(?: nano| nx)?(?: super)?", (8, 7), _ARM),
    (r"jetson(?: agx)? xavier(?: nx)?|(?:agx )?xavier(?: nx)?", (7, 2), _ARM),
    (r"jetson tx2(?: nx)?", (6, 2), _ARM),
    (r"jetson nano|jetson tx1", (5, 3), _ARM),
    (r"gb10|dgx spark", (12, 1), _ARM),
    (r"gb300", (10, 3), _ARM),
    (r"b300", (10, 3), None),
    (r"gb200", (10, 0), _ARM),
    (r"b[12]00", (10, 0), None),
    (r"gh200", (9, 0), _ARM),
    (r"h[12]00|h800|h20", (9, 0), None),
    (rf"(?:rtx ?)?50[5-9]0{_SUFFIX}", (12, 0), None),
    (r"rtx pro ?(?:500|[1-6]000|4500)(?: blackwell)?(?: (?:server|workstation)(?: edition)?)?", (12, 0), None),
    (rf"(?:rtx ?)?40[5-9]0{_SUFFIX}", (8, 9), None),
    (r"l40[gs]?|l20|l4|l2", (8, 9), None),
    (r"rtx ?(?:[2-6]000|4500|3500)(?: sff)? ada(?: generation)?", (8, 9), None),
    (rf"(?:rtx ?)?30[5-9]0{_SUFFIX}|rtx ?2050|mx570", (8, 6), None),
    (r"a40|a10g?|a16|a2|rtx ?a(?:[2-6]000|500|400|1000|4500|5500)", (8, 6), None),
    (r"a100x?|a800|a30", (8, 0), None),
    (rf"(?:rtx ?)?20[678]0{_SUFFIX}|(?:gtx ?)?16[356]0{_SUFFIX}|titan rtx|mx[45]50", (7, 5), None),
    (r"t4g", (7, 5), _ARM),
    (r"t4|t1200|t1000|t[456]00|quadro rtx ?[34568]000|rtx ?[68]000", (7, 5), None),
    (r"v100[dlsx]?|titan v|quadro gv100|gv100", (7, 0), None),
    (r"p100x?|gp100", (6, 0), None),
    (
        rf"(?:gtx ?)?10[5-8]0{_SUFFIX}|gt ?10[13]0|titan xp|titan x pascal|p40|p4|p6|quadro p\d{{3,4}}|mx(?:[123][1357]0|350)",
        (6, 1),
        None,
    ),
    (rf"gtx ?9[5-8]0{_SUFFIX}|gtx titan x|m60|m40|tesla m[46]|quadro m[2456]000", (5, 2), None),
    (rf"gtx ?7[45]0{_SUFFIX}|gtx ?8[2456]0m|9[34]0mx?|quadro k(?:620|1200|2200)|m10", (5, 0), None),
    (r"k80", (3, 7), None),
    (rf"k40[cmst]?|k20[cmsx]?|gtx ?780{_SUFFIX}|gtx titan(?: black| z)?|quadro k6000|gt ?7[1-3]0", (3, 5), None),
    (rf"k10|grid k[12]|gtx ?6[5-9]0{_SUFFIX}|gtx ?7[67]0|quadro k[2-5]000", (3, 0), None),
    (r"gtx ?4[78]0|gtx ?5[78]0|m20[57]0|m2090|c20[57]0", (2, 0), None),
    (rf"gtx ?4[56]0|gtx ?5[56]0{_SUFFIX}", (2, 1), None),
)
_AMD: tuple[tuple[str, str | None], ...] = (
    (r"mi3(?:50|55)x?", "gfx950"),
    (r"mi3(?:00|25)[ax]?", "gfx942"),
    (r"mi2(?:00|10|50)x?", "gfx90a"),
    (r"mi100", "gfx908"),
    (r"mi[56]0|radeon (?:pro )?vii", "gfx906"),
    (r"mi25|(?:rx )?vega ?(?:56|64)?", "gfx900"),
    (r"rx ?90[67]0(?: xt| gre)?", "gfx1201"),
    (r"(?:ai )?pro r9[67]00d?", "gfx1201"),
    (r"rx ?79\d0(?: xtx| xt| gre)?|(?:pro )?w7[89]00", "gfx1100"),
    (r"rx ?7[78]00(?: xt)?|(?:pro )?w7700", "gfx1101"),
    (r"rx ?7600(?: xt)?|(?:pro )?w7[56]00", "gfx1102"),
    (r"rx ?6[89][05]0(?: xt)?|(?:pro )?w6800|v620", "gfx1030"),
    (r"rx ?67[05]0(?: xt)?", "gfx1031"),
    (r"rx ?6[56][05]0(?: xt)?|(?:pro )?w6600", "gfx1032"),
    (r"rx ?5[56]00(?: xt)?", "gfx1012"),
    (r"rx ?57\d0(?: xt)?", "gfx1010"),
    (r"rx ?[45][678]0", "gfx803"),
    (r"ryzen ai max\+?(?: pro)?(?: 3\d\d)?|strix halo|8060s", "gfx1151"),
    (r"ryzen ai 9(?: hx)?(?: 3\d\d)?|strix point|890m", "gfx1150"),
    (r"7[468]0m", "gfx1103"),  # of a processor, as the next two
    (r"6[68]0m", "gfx1035"),
    (r"vega ?(?:3|6|7|8|10|11)", "gfx90c"),
    (r"gfx[0-9a-f]{3,4}", None),
)
_APPLE = r"m[1-9](?: (?:pro|max|ultra))?"
_INTEL = (
    r"arc(?: (?:pro )?[ab]\d{2,3}m?)?|iris(?: xe)?(?: max)?|data center gpu (?:max|flex)(?: \d{3,4})?"
    r"|u?hd graphics(?: \d{3})?"
)

_BRANDS = {
    "nvidia": r"(?:nvidia |geforce |tesla |quadro |grid )*",
    "amd": r"(?:amd |radeon |instinct )*",
    "apple": r"(?:apple |macbook (?:air |pro )?|mac (?:mini |studio |pro )?|imac )*(?:apple )?",
    "intel": r"(?:intel )*",
}
# What nvidia-smi, clouds and people add to a name: memory size, form factor, partition.
_ADDED = (
    r"(?:[ -](?:sxm\d?|pcie?e?|nvl|hbm\d?e?|nvlink|laptop gpu|mobile gpu|max-q|gpu|oam|(?:workstation|server) edition"
    r"|\d{1,3} ?gi?b|mig(?: \dg\.\d+gb)?))*"
)


@functools.cache
def _patterns() -> list[tuple[re.Pattern[str], KnownGpu]]:
    rows = [(rf"{_BRANDS['nvidia']}(?:{pattern})", KnownGpu("nvidia", chip, where)) for pattern, chip, where in _NVIDIA]
    rows += [(rf"{_BRANDS['amd']}(?:{pattern})", KnownGpu("amd", gfx, _X86)) for pattern, gfx in _AMD]
    rows += [(rf"{_BRANDS['apple']}(?:{_APPLE})", KnownGpu("apple", None, "arm64"))]
    rows += [(rf"{_BRANDS['intel']}(?:{_INTEL})", KnownGpu("intel", None))]
    return [(re.compile(rf"(?:{pattern}){_ADDED}(?![\w.])", re.ASCII), named) for pattern, named in rows]


def at_start(text: str) -> tuple[int, KnownGpu] | None:
    """Return the length of the GPU name at the start of a text in lower case, and the GPU; None without one."""
    matches = [(match, named) for pattern, named in _patterns() if (match := pattern.match(text))]
    if not matches:
        return None
    match, named = max(matches, key=lambda found: found[0].end())  # of the longest the first
    chip = re.search(r"gfx[0-9a-f]+", match[0]) if named.vendor == "amd" and named.chip is None else None
    return match.end(), named._replace(chip=chip[0]) if chip else named
