"""What the pattern files cannot say as data: functions from a match to the fields of an event, which the files name.

Each takes a match and returns the fields, or None where the line is no such event after all.
"""

import math
import re
import sys

from gpucheck.core.compat import removed as gone
from gpucheck.core.compat import results
from gpucheck.core.logs.reading.patterns.advice import advice as advice
from gpucheck.core.logs.reading.patterns.fields import file_name, named
from gpucheck.core.repairs.wording import byte_count

Match = re.Match[str]

# -- results of CUDA and NVML --

_NO_FAILURE = {"0", "4", "600", "704"}  # success; the driver shutting down; not ready yet; enabled before
_UNANSWERED = {"2", "3", "6", "7", "13", "21", "25", "26"}  # one query that this GPU or driver does not know


def cuda_result(match: Match) -> dict[str, str] | None:
    """code, name and message of whatever the pattern caught: a number, a name or a sentence."""
    caught = named(match)
    spelled = next((caught[key] for key in ("name", "code", "number", "message") if key in caught), "")
    result = results.cuda(spelled) or results.cuda(caught.get("message", ""))
    caught.pop("number", None)
    if result is not None:
        caught = {"name": result.name, "message": result.message, **caught, "code": result.code}
    return None if caught.get("code") in _NO_FAILURE else caught


def cuda_error(match: Match) -> dict[str, str] | None:
    """The same, of a result that is known."""
    fields = cuda_result(match)
    return fields if fields and ("code" in fields or "name" in fields) else None


def cuda_name(match: Match) -> dict[str, str] | None:
    """The fields that the line gives, with code and name of the result in place of a name or a sentence."""
    fields = named(match)
    result = results.cuda(fields["name"])
    return fields if result is None else {**fields, "name": result.name, "code": result.code}


def nvml_result(match: Match) -> dict[str, str] | None:
    """code, name and message; Go's bindings leave NVML's prefix out of the name."""
    fields = named(match)
    spelled = fields.get("name") or fields.get("message", "")
    result = results.nvml(spelled) or results.nvml(f"NVML_{spelled.partition(' ')[0]}")
    if result is None:
        return None if spelled.startswith("ERROR_") else fields
    return None if result.code in _UNANSWERED else {"message": result.message, **fields, "code": result.code, "name": result.name}


def nvml_handle(match: Match) -> dict[str, str] | None:
    """A GPU whose handle is "Not Found" is gone, though the same words elsewhere are of one query only."""
    return nvml_result(match) or {**named(match), "code": "28", "name": "NVML_ERROR_GPU_NOT_FOUND"}


# -- GPUs --


def one_gpu(match: Match) -> dict[str, str] | None:
    """Several GPUs in one line identify none of them."""
    names = {gpu_match["gpu"].lower() for gpu_match in match.re.finditer(match.string, 0, match.endpos)}
    return named(match) if len(names - {"blackwell"}) < 2 else {"gpu": "several"}


def listed_gpus(match: Match) -> dict[str, str] | None:
    """count, of a list of PhysicalDevice."""
    return {"count": str(len(re.findall(r"physical_device:(?:XLA_)?GPU:\d+", match[0])))}


def added_gpus(match: Match) -> dict[str, str] | None:
    """count, of a list of numbers."""
    return {"count": str(len(re.findall(r"\d+", match["devices"] or "")))}


def strategy(match: Match) -> dict[str, str] | None:
    """strategy, the kinds of its devices, and their count."""
    devices = re.findall(r"(?:device:)?\b(GPU|CPU|TPU):(\d+)", match["devices"])
    kinds = sorted({kind for kind, _ in devices})
    counted = {"devices": ",".join(kinds), "count": str(len(devices))} if devices else {}
    return {**counted, "strategy": match["strategy"]}


def requested_gpus(match: Match) -> dict[str, str] | None:
    """asked and count; without any GPU the trouble is another one."""
    asked = match["count"] or str(len(re.findall(r"\d+", match["wanted"])))
    available = len(re.findall(r"(?<!xla_)gpu:\d+|(?<![\w:])\d+", match["found"]))
    return {"asked": asked, "count": str(available)} if available else None


def invisible_gpus(match: Match) -> dict[str, str] | None:
    """devices, the lowest first. Of a cluster's jobs TensorFlow says so of devices that only go by another name."""
    numbers = re.findall(r"(?:^|,)(?:/job:localhost)?(?:/(?:replica|task):\d+)*/device:GPU:(\d+)", match["devices"])
    return {"devices": ",".join(f"GPU:{number}" for number in sorted(map(int, numbers)))} if numbers else None


# -- the driver's reports --


def _columns(match: Match) -> dict[str, str]:
    """Name and value of each column of a comma-separated query: a line of names, and the first line of values."""
    cells = match[0].split(", ")
    middle = len(cells) // 2  # it holds the last name and the first value
    last = re.match(r"[\w.]+(?: \[[^\]]*\])?", cells[middle])
    if last is None:
        return {}
    names, values = [*cells[:middle], last[0]], [cells[middle][last.end() :], *cells[middle + 1 :]]
    return {name: value.strip() for name, value in zip(names, values, strict=False)}


def queried_errors(match: Match) -> dict[str, str] | None:
    """The first count of what could not be corrected since the driver was loaded, if it is no zero."""
    counts = (re.match(r"\d+", value) for name, value in _columns(match).items() if ".volatile." in name)
    count = next((count[0] for count in counts if count and int(count[0])), None)
    return {"count": count, "section": "volatile"} if count else None


def queried_mode(match: Match) -> dict[str, str] | None:
    """mode, of a query, if it is not the default one."""
    mode = _columns(match).get("compute_mode", "").replace("_", "-")
    return {"mode": mode} if mode.startswith(("Exclusive", "Prohibited")) else None


def link(match: Match) -> dict[str, str] | None:
    """A link at its full width is no finding; its speed drops while a GPU idles."""
    fields = named(match)
    return fields if int(fields["width"]) < int(fields["width_max"]) else None


def queried_link(match: Match) -> dict[str, str] | None:
    """The same, of a query."""
    values = _columns(match)
    width, most = values.get("pcie.link.width.current", ""), values.get("pcie.link.width.max", "")
    numeric = width.isdecimal() and most.isdecimal()
    return {"width": width, "width_max": most} if numeric and int(width) < int(most) else None


def differing(match: Match) -> dict[str, str] | None:
    """Two versions that agree as far as both are spelled out are one."""
    kernel, library = match["kernel"], match["library"]
    return None if kernel.startswith(library) or library.startswith(kernel) else named(match)


# -- shared libraries --

# Nothing that training needs: absent on healthy machines, and named in their logs.
_OPTIONAL = re.compile(
    r"libnvinfer|libnvrtc|libnvjpeg|libcupti|libtpu|libnuma|librdmacm|libibverbs|libmlx|libnccl-|libamd"
    r"|libhip|libroc|libcufile|tensorrt"
    r"|libhdfs|libjvm|libnvshmem|libnvonnx|nvinfer",
    re.IGNORECASE,
)


def missing_library(match: Match) -> dict[str, str] | None:
    """soname and error; a library that is there can miss one that it needs in turn."""
    asked = file_name(match["soname"])
    fields = {**named(match), "soname": asked}
    if error := fields.get("error"):
        needed = re.match(r"(lib[\w.+-]+\.so[\d.]*): cannot open shared", error)
        fields["soname"] = needed[1] if needed else asked
        fields["error"] = error.rpartition(".so")[2].lstrip(".0123456789: ") or error
    return None if optional_library(match) else fields


def optional_library(match: Match) -> dict[str, str] | None:
    """soname of one that a program can do without; one that raises cannot."""
    soname = file_name(match["soname"])
    dispensable = _OPTIONAL.search(soname) and not re.search(r"\b(?:Import|OS)Error: ", match.string)
    return {"soname": soname} if dispensable else None


def any_library(match: Match) -> dict[str, str] | None:
    """Of the spellings a loader tried, the one with just the major version."""
    names = [file_name(name) for name in match["names"].split(",")]
    best = next((name for name in names if re.fullmatch(r".*\.so\.\d+", name)), names[0])
    return None if _OPTIONAL.search(best) else {"soname": best}


# -- memory --


def exhausted(match: Match) -> dict[str, str] | None:
    """device, bytes, shape and allocator ("gpu", "cuda", "cpu"), as far as the line gives them."""
    caught = named(match)
    fields = {"shape": caught["shape"]} if "shape" in caught else {}
    if (size := byte_count(caught.get("bytes") or caught.get("size", ""))) is not None:
        fields["bytes"] = str(size)
    if "allocator" in caught:
        fields["allocator"] = _allocator(caught["allocator"])
    device = caught.get("device") or next(iter(re.findall(r"(?i)\bgpu_\d+(?=_bfc)", caught.get("allocator", ""))), "")
    if device:
        fields["device"] = device.upper().replace("_", ":").replace("GPU ", "GPU:")
        fields.setdefault("allocator", "cpu" if fields["device"].startswith("CPU") else "gpu")
    return fields


def _allocator(name: str) -> str:
    """'gpu_host_bfc' hands out the host's memory, pinned for copies."""
    if re.match(r"(?i)(?:\w+_)?(?:gpu|cuda)_host", name):
        return "cpu"
    if re.match(r"(?i)gpu", name):
        return "gpu"
    return "cuda" if re.match(r"(?i)cuda|device", name) else "cpu"


def holders(match: Match) -> dict[str, str] | None:
    """What others hold of the GPU. In a container this includes the own process, which may be the largest."""
    sizes = [byte_count(size) or 0 for size in re.findall(r"Process \d+ has ([\d.]+ [KMGT]iB) memory in use", match[0])]
    others = sum(sizes) - (0 if "this process has" in match[0] else max(sizes))
    return {"others": str(others), "total": str(byte_count(match["total"]))} if others else None


# -- Python and its packages --

_IMPORTED = ("tensorflow", "keras", "numpy", "scipy", "h5py", "absl", "wrapt", "six", "jax", "torch", "pandas")
_INSTALLED = re.compile(r"(?i)[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\](?:python\d[^/\\]*[/\\])?\w+\.py$")


def imported(match: Match) -> dict[str, str] | None:
    """What could not be imported: named by the message, or by the file that the loader refused."""
    fields = named(match)
    message = fields.get("message", "")
    module = re.search(r"while importing ([\w.]+)|from '([\w.]+)'|/site-packages/(\w+)/|/dist-packages/(\w+)/", message)
    if module:
        name = next(group for group in module.groups() if group)
        fields["module"] = "tensorflow" if name.startswith("_pywrap_tensorflow") else name
    return fields


def own_file(match: Match) -> dict[str, str] | None:
    """A user's file that is named like a package, or like a module of Python's own; the file, if the line names it."""
    fields = named(match)
    module, file = fields.get("module", ""), fields.get("file", "")
    if _INSTALLED.search(file) or (module not in _IMPORTED and (not file or module not in sys.stdlib_module_names)):
        return None
    return fields


def removed(match: Match) -> dict[str, str] | None:
    """name, page, why and instead, if the exception names something that TensorFlow or Keras removed."""
    caught = named(match)
    missing = gone.attribute(caught.get("owner", "keras.utils"), caught["attribute"])
    return {key: value for key, value in missing._asdict().items() if value} if missing else None


def replaced(match: Match) -> dict[str, str]:
    """name, page, why and instead, of an exception that names the successor itself."""
    return {**named(match), "page": gone.API, "why": "its package removed"}


def offered(match: Match) -> dict[str, str] | None:
    """package, the version asked for, and what the index offered to this interpreter."""
    fields = named(match)
    if versions := fields.pop("versions", ""):
        listed = [version.strip() for version in versions.split(",")]
        fields["available"] = listed[0] if len(listed) == 1 else f"{listed[0]} to {listed[-1]}"
    return fields


# -- training --

_MOST_CLASSES = 10  # as their logarithm: 22,026
_CHANCE = 0.1  # how far, relatively, an accuracy may be from that of a guess


def at_chance(match: Match) -> dict[str, str] | None:
    """classes: the number of classes that loss and accuracy are those of a guess among."""
    loss, accuracy = float(match["loss"]), float(match["accuracy"])
    classes = round(math.exp(loss)) if 0 < loss < _MOST_CLASSES else 0
    if classes < 2 or abs(loss - math.log(classes)) > 0.005 * loss or abs(accuracy * classes - 1) > _CHANCE:
        return None
    return {"loss": match["loss"], "accuracy": match["accuracy"], "classes": str(classes)}


# -- the system, as a person names it --

_SYSTEMS = {  # the first that fits
    "wsl": r"\bWSL ?[12]?\b|Windows Subsystem for Linux|microsoft-standard",
    "windows": r"\bWindows\b|\bWin ?(?:7|8|10|11)\b|\bwin32\b",
    "macos": r"\bmac ?OS\b|\bOS ?X\b|\bDarwin\b|\bMac(?:Book)?\b",
    "linux": r"Linux|Ubuntu|Debian|Fedora|CentOS|\bRHEL\b|Red ?Hat|\bRocky\b|\bArch\b|SUSE|\bMint\b|\bPop!?_OS\b|NixOS|Gentoo",
}
_ANSWER = 60  # characters: the next heading comes after them


def system(match: Match) -> dict[str, str] | None:
    """os: "wsl", "windows", "macos" or "linux"."""
    answer = match.string[match.start("os") : match.start("os") + _ANSWER]
    answer = re.split(r"(?i)\b(?:mobile device|(?:tensorflow|python|cuda|bazel|gcc)\b(?:/\w+)? (?:version|installed))", answer)[0]
    name = next((name for name, pattern in _SYSTEMS.items() if re.search(pattern, answer, re.IGNORECASE)), None)
    return {"os": name} if name else None
