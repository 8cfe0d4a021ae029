"""Functions, named by pattern files, that return an event's fields from a match, or None if the match is not an event."""

import math
import re
import sys

from gpucheck.core.compat import removed as gone
from gpucheck.core.compat import results
from gpucheck.core.logs.reading.patterns.fields import advice as advice
from gpucheck.core.logs.reading.patterns.fields import below_minimum as below_minimum
from gpucheck.core.logs.reading.patterns.fields import file_name, named
from gpucheck.core.logs.reading.patterns.fields import probability as probability
from gpucheck.core.model.wording import byte_count

Match = re.Match[str]

# -- results of CUDA and NVML --

_NO_FAILURE = {"0", "4", "600", "704"}  # success; the driver shutting down; not ready yet; enabled before
_UNSUPPORTED = {"2", "3", "6", "7", "13", "21", "25", "26"}  # a query that this GPU or driver does not support


def cuda_result(match: Match) -> dict[str, str] | None:
    """Return ``code``, ``name`` and ``message`` of a result that the line gives as number, name or sentence."""
    caught = named(match)
    spelled = next((caught[key] for key in ("name", "code", "number", "message") if key in caught), "")
    result = results.cuda(spelled) or results.cuda(caught.get("message", ""))
    caught.pop("number", None)
    if result is not None:
        caught = {"name": result.name, "message": result.message, **caught, "code": result.code}
    return None if caught.get("code") in _NO_FAILURE else caught


def cuda_error(match: Match) -> dict[str, str] | None:
    """Like ``cuda_result``, but only for a known result."""
    fields = cuda_result(match)
    return fields if fields and ("code" in fields or "name" in fields) else None


def cuda_name(match: Match) -> dict[str, str] | None:
    """Replace a name or sentence of the line with the result's ``code`` and ``name``."""
    fields = named(match)
    result = results.cuda(fields["name"])
    return fields if result is None else {**fields, "name": result.name, "code": result.code}


def nvml_result(match: Match) -> dict[str, str] | None:
    """Return ``code``, ``name`` and ``message``; Go's bindings omit NVML's prefix of the name."""
    fields = named(match)
    spelled = fields.get("name") or fields.get("message", "")
    result = results.nvml(spelled) or results.nvml(f"NVML_{spelled.partition(' ')[0]}")
    if result is None:
        return None if spelled.startswith("ERROR_") else fields
    return (
        None if result.code in _UNSUPPORTED else {"message": result.message, **fields, "code": result.code, "name": result.name}
    )


def nvml_handle(match: Match) -> dict[str, str] | None:
    """Return the result for a GPU's handle: "Not Found" means a lost GPU there, in other calls an unsupported query."""
    return nvml_result(match) or {**named(match), "code": "28", "name": "NVML_ERROR_GPU_NOT_FOUND"}


# -- GPUs --


def one_gpu(match: Match) -> dict[str, str] | None:
    """Return ``gpu``: the name, or "several" if the line names more than one."""
    names = {gpu_match["gpu"].lower() for gpu_match in match.re.finditer(match.string, 0, match.endpos)}
    return named(match) if len(names - {"blackwell"}) < 2 else {"gpu": "several"}


def listed_gpus(match: Match) -> dict[str, str] | None:
    """Return ``count`` of a list of PhysicalDevice."""
    return {"count": str(len(re.findall(r"physical_device:(?:XLA_)?GPU:\d+", match[0])))}


def added_gpus(match: Match) -> dict[str, str] | None:
    """Return ``count`` of a list of numbers."""
    return {"count": str(len(re.findall(r"\d+", match["devices"] or "")))}


def strategy(match: Match) -> dict[str, str] | None:
    """Return ``strategy``, the kinds of its ``devices``, and their ``count``."""
    devices = re.findall(r"(?:device:)?\b(GPU|CPU|TPU):(\d+)", match["devices"])
    kinds = sorted({kind for kind, _ in devices})
    counted = {"devices": ",".join(kinds), "count": str(len(devices))} if devices else {}
    return {**counted, "strategy": match["strategy"]}


def requested_gpus(match: Match) -> dict[str, str] | None:
    """Return ``asked`` and ``count``; None for no GPU or for all of them, which have other causes."""
    requested = match["count"] or str(len(re.findall(r"\d+", match["wanted"])))
    available = len(re.findall(r"(?<!xla_)gpu:\d+|(?<![\w:])\d+", match["found"]))
    return {"asked": requested, "count": str(available)} if 0 < available < int(requested) else None


def invisible_gpus(match: Match) -> dict[str, str] | None:
    """Return ``devices``, the lowest first, without those of a cluster's jobs, whose names merely differ here."""
    numbers = re.findall(r"(?:^|,)(?:/job:localhost)?(?:/(?:replica|task):\d+)*/device:GPU:(\d+)", match["devices"])
    return {"devices": ",".join(f"GPU:{number}" for number in sorted(map(int, numbers)))} if numbers else None


# -- the driver's reports --


def _columns(match: Match) -> dict[str, str]:
    """Return column names and values of a comma-separated query: a line of names, and the first line of values."""
    cells = match[0].split(", ")
    middle = len(cells) // 2  # it holds the last name and the first value
    last = re.match(r"[\w.]+(?: \[[^\]]*\])?", cells[middle])
    if last is None:
        return {}
    names, values = [*cells[:middle], last[0]], [cells[middle][last.end() :], *cells[middle + 1 :]]
    return {name: value.strip() for name, value in zip(names, values, strict=False)}


def queried_errors(match: Match) -> dict[str, str] | None:
    """Return the first nonzero ``count`` of uncorrected errors since the driver was loaded."""
    counts = (re.match(r"\d+", value) for name, value in _columns(match).items() if ".volatile." in name)
    count = next((count[0] for count in counts if count and int(count[0])), None)
    return {"count": count, "section": "volatile"} if count else None


def queried_mode(match: Match) -> dict[str, str] | None:
    """Return ``mode`` of a query, if it is not the default."""
    mode = _columns(match).get("compute_mode", "").replace("_", "-")
    return {"mode": mode} if mode.startswith(("Exclusive", "Prohibited")) else None


def link(match: Match) -> dict[str, str] | None:
    """Return the link's fields if it is not at full width; its speed is lower while a GPU is idle."""
    fields = named(match)
    return fields if int(fields["width"]) < int(fields["width_max"]) else None


def queried_link(match: Match) -> dict[str, str] | None:
    """Like ``link``, for a query."""
    values = _columns(match)
    width, most = values.get("pcie.link.width.current", ""), values.get("pcie.link.width.max", "")
    numeric = width.isdecimal() and most.isdecimal()
    return {"width": width, "width_max": most} if numeric and int(width) < int(most) else None


def differing(match: Match) -> dict[str, str] | None:
    """Return the two versions if they differ; one may be a prefix of the other."""
    kernel, library = match["kernel"], match["library"]
    return None if kernel.startswith(library) or library.startswith(kernel) else named(match)


# -- shared libraries --

# Libraries that training does not need: healthy machines lack them and log that.
_OPTIONAL = re.compile(
    r"libnvinfer|libnvrtc(?!-builtins)|libnvjpeg|libcupti|libtpu|libnuma|librdmacm|libibverbs|libmlx|libnccl-|libamd"
    r"|libhip|libroc|libcufile|tensorrt"
    r"|libhdfs|libjvm|libnvshmem|libnvonnx|nvinfer",
    re.IGNORECASE,
)


def missing_library(match: Match) -> dict[str, str] | None:
    """Return ``soname`` and ``error``; the missing library may be a dependency of the named one."""
    soname = file_name(match["soname"])
    fields = {**named(match), "soname": soname}
    if error := fields.get("error"):
        needed = re.match(r"(lib[\w.+-]+\.so[\d.]*): cannot open shared", error)
        fields["soname"] = needed[1] if needed else soname
        fields["error"] = error.rpartition(".so")[2].lstrip(".0123456789: ") or error
    return None if optional_library(match) else fields


def optional_library(match: Match) -> dict[str, str] | None:
    """Return ``soname`` of an optional library; not if its absence raises an exception."""
    soname = file_name(match["soname"])
    dispensable = _OPTIONAL.search(soname) and not re.search(r"\b(?:Import|OS)Error: ", match.string)
    return {"soname": soname} if dispensable else None


def any_library(match: Match) -> dict[str, str] | None:
    """Return ``soname``: of the names that a loader tried, the one with only the major version."""
    names = [file_name(name) for name in match["names"].split(",")]
    best = next((name for name in names if re.fullmatch(r".*\.so\.\d+", name)), names[0])
    return None if _OPTIONAL.search(best) else {"soname": best}


# -- memory --


def exhausted(match: Match) -> dict[str, str] | None:
    """Return ``device``, ``bytes``, ``shape`` and ``allocator`` ("gpu", "cuda", "cpu"), as far as the line contains them."""
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
    """Return the kind of an allocator; 'gpu_host_bfc' allocates pinned host memory."""
    if re.match(r"(?i)(?:\w+_)?(?:gpu|cuda)_host", name):
        return "cpu"
    if re.match(r"(?i)gpu", name):
        return "gpu"
    return "cuda" if re.match(r"(?i)cuda|device", name) else "cpu"


def holders(match: Match) -> dict[str, str] | None:
    """Return ``others``, the GPU memory of other processes, and ``total``. In a container, the largest may be this process."""
    sizes = [byte_count(size) or 0 for size in re.findall(r"Process \d+ has ([\d.]+ [KMGT]iB) memory in use", match[0])]
    others = sum(sizes) - (0 if "this process has" in match[0] else max(sizes))
    return {"others": str(others), "total": str(byte_count(match["total"]))} if others else None


# -- Python and its packages --

_IMPORTED = ("tensorflow", "keras", "numpy", "scipy", "h5py", "absl", "wrapt", "six", "jax", "torch", "pandas")
_INSTALLED = re.compile(r"(?i)[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\](?:python\d[^/\\]*[/\\])?\w+\.py$")


def imported(match: Match) -> dict[str, str] | None:
    """Return ``module`` that could not be imported, from the message or from the path of the file."""
    fields = named(match)
    message = fields.get("message", "")
    module = re.search(r"while importing ([\w.]+)|from '([\w.]+)'|/site-packages/(\w+)/|/dist-packages/(\w+)/", message)
    if module:
        name = next(group for group in module.groups() if group)
        fields["module"] = "tensorflow" if name.startswith("_pywrap_tensorflow") else name
    return fields


def own_file(match: Match) -> dict[str, str] | None:
    """Return the fields for a user's file that has the name of a package or of a standard library module."""
    fields = named(match)
    module, file = fields.get("module", ""), fields.get("file", "")
    standard = module in sys.stdlib_module_names and (file or "is not a package" in match[0])
    return None if _INSTALLED.search(file) or not (module in _IMPORTED or standard) else fields


def removed(match: Match) -> dict[str, str] | None:
    """Return ``name``, ``page``, ``why`` and ``instead`` if the exception names an API that TensorFlow or Keras removed."""
    caught = named(match)
    missing = gone.attribute(caught.get("owner", "keras.utils"), caught["attribute"])
    return {key: value for key, value in missing._asdict().items() if value} if missing else None


def replaced(match: Match) -> dict[str, str]:
    """Return ``name``, ``page``, ``why`` and ``instead`` of an exception that names the replacement itself."""
    return {**named(match), "page": gone.API, "why": "its package removed"}


def offered(match: Match) -> dict[str, str] | None:
    """Return the package, the requested version, and the versions that the index has for this interpreter."""
    fields = named(match)
    if versions := fields.pop("versions", ""):
        listed = [version.strip() for version in versions.split(",")]
        fields["available"] = listed[0] if len(listed) == 1 else f"{listed[0]} to {listed[-1]}"
    return fields


# -- training --

_MOST_CLASSES = 10  # logarithm of the number: 22,026
_CHANCE = 0.1  # relative tolerance of the accuracy of a guess


def at_chance(match: Match) -> dict[str, str] | None:
    """Return ``classes`` if loss and accuracy equal those of a random guess among that many classes."""
    loss, accuracy = float(match["loss"]), float(match["accuracy"])
    classes = round(math.exp(loss)) if 0 < loss < _MOST_CLASSES else 0
    if classes < 2 or abs(loss - math.log(classes)) > 0.005 * loss or abs(accuracy * classes - 1) > _CHANCE:
        return None
    return {"loss": match["loss"], "accuracy": match["accuracy"], "classes": str(classes)}


# -- the system, as users write it --

_SYSTEMS = {  # the first match is used
    "wsl": r"\bWSL ?[12]?\b|Windows Subsystem for Linux|microsoft-standard",
    "windows": r"\bWindows\b|\bWin ?(?:7|8|10|11)\b|\bwin32\b",
    "macos": r"\bmac ?OS\b|\bOS ?X\b|\bDarwin\b|\bMac(?:Book)?\b",
    "linux": r"Linux|Ubuntu|Debian|Fedora|CentOS|\bRHEL\b|Red ?Hat|\bRocky\b|\bArch\b|SUSE|\bMint\b|\bPop!?_OS\b|NixOS|Gentoo",
}
_ANSWER_LENGTH = 60  # characters; the next heading may follow


def system(match: Match) -> dict[str, str] | None:
    """Return ``os``: "wsl", "windows", "macos" or "linux"."""
    answer = match.string[match.start("os") : match.start("os") + _ANSWER_LENGTH]
    answer = re.split(r"(?i)\b(?:mobile device|(?:tensorflow|python|cuda|bazel|gcc)\b(?:/\w+)? (?:version|installed))", answer)[0]
    name = next((name for name, pattern in _SYSTEMS.items() if re.search(pattern, answer, re.IGNORECASE)), None)
    return {"os": name} if name else None
