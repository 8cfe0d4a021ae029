"""Formats of lists, long lines and sizes for summaries, and the summaries that logs and live machines share."""

import re
from typing import NamedTuple

from gpucheck.core.model import Severity

_SIZE = r"(\d[\d,]*(?:\.\d*)?) ?([KMGT]?)i?B?"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
# The labels of repairs for one kind of machine, printed if the kind is unknown.
LABELS = {
    "linux": "Linux",
    "win32": "Windows",
    "darwin": "macOS",
    "wsl": "WSL2",
    "docker": "Docker",
    "podman": "Podman",
    "kubernetes": "Kubernetes",
    "apptainer": "Apptainer",
    "lxc": "LXC",
    "enroot": "enroot",
    "colab": "Colab",
    "kaggle": "Kaggle",
    "conda": "conda",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "torch": "PyTorch",
    "ubuntu": "Ubuntu",
    "debian": "Debian",
    "fedora": "Fedora",
    "slurm": "Slurm",
}


def listing(names: list[str], most: int = 3) -> str:
    """Join names: 'a', 'a and b', 'a, b and 5 more'."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def short(text: str, limit: int = 140) -> str:
    """Return the text on one line without its final full stop, cut at a word if it is too long."""
    line = " ".join(text.split())
    if len(line) > limit:
        line = (line[:limit].rpartition(" ")[0] or line[:limit]) + " ..."
    return line if line.endswith("...") else line.rstrip(".:")


def gib(size_bytes: float) -> str:
    """Format a size: '1.5 GiB'; below one GiB '64 MiB'."""
    if size_bytes < 1 << 30:
        return f"{size_bytes / (1 << 20):.0f} MiB"
    return f"{size_bytes / (1 << 30):.1f} GiB"


def byte_count(text: str) -> int | None:
    """Parse "10.92GiB", "512 M" or "1,048,576" as bytes; None for anything else."""
    size = re.fullmatch(_SIZE, text)
    return int(float(size[1].replace(",", "")) * _UNITS[size[2]]) if size else None


LOADING_FAILED = "SUBLIBRARY_LOADING_FAILED"


def library_not_started(library: str, text: str, *, spare: bool = False) -> str:
    """Return the summary for cuBLAS or cuDNN, with the status if the text contains one."""
    status = re.search(rf"{library.upper()}_STATUS_\w+", text)
    if status and status[0].endswith("EXECUTION_FAILED"):
        why = f"GPU memory ran out, or this {library} does not support the GPU"
        return f"A {library} call failed on the GPU ({status[0]}): {why}."
    if status and status[0].endswith(LOADING_FAILED):
        return f"{library} could not load one of its own libraries ({status[0]}): its file is missing, or is of another version."
    why = "although enough of the GPU's memory is free" if spare else "usually because too little GPU memory is left for it"
    return f"{library} could not start{f' ({status[0]})' if status else ''}, {why}."


def driver_mismatch(kernel: str | None, library: str | None) -> str:
    """Return the summary for a kernel module and driver libraries of different versions, with both if they are known."""
    if kernel and library and kernel != library:
        both = "both must have the same version"
        return f"The NVIDIA kernel module is version {kernel}, but the driver's libraries are {library}: {both}."
    return "The NVIDIA kernel module and the driver's libraries have different versions."


DRIVER_NOT_LOADED = "The NVIDIA driver is installed, but its kernel module is not loaded."
GROWTH_TOO_LATE = (
    "Memory growth was requested too late: TensorFlow had already initialized the GPU (Physical devices cannot be modified"
    " after being initialized)."
)
# The fields of the log, or the values of the rule, replace the braces of the next three.
XLA_FILE_UNREADABLE = "{variable} names the file {file}, which XLA can't open, so it aborts the process."
OUTSIDE_SCOPE = "Something was created or used outside the scope of the strategy that trains it: {text}."
MULTI_WORKER_FIT = "Keras 3's fit was used under MultiWorkerMirroredStrategy, which it does not support: {text}."


def convolution_refused(version: str | None) -> str:
    """Return the summary for a cuDNN with which XLA can't run a convolution, with its version if it is known."""
    return f"XLA can't run a convolution with {f'cuDNN {version}' if version else 'the loaded cuDNN'}."


def no_temporary_folder(tried: str) -> str:
    """Return the summary for a machine without a folder for temporary files; ``tried``: ' (/tmp, /var/tmp)'."""
    return f"No folder for temporary files is writable{tried}, but TensorFlow needs one when it is imported."


def version_text(numbers: tuple[int, ...]) -> str:
    """Format a version: '12.0' for (12, 0)."""
    return ".".join(map(str, numbers))


def milliseconds(seconds: float) -> str:
    """Format a duration: '14.5 ms'."""
    return f"{1000 * seconds:.3g} ms"


class ReachedLimit(NamedTuple):
    """A limit of the process that a log or a signal reports as reached."""

    summary: str
    limit: str
    severity: Severity | None = None  # None: the rule's own


def _reached(what: str, effect: str, limit: str) -> ReachedLimit:
    return ReachedLimit(f"The limit on {what} was reached: the system {effect}.", limit)


REACHED = {
    "thread-limit": _reached("threads or processes", "refused to start another thread", "threads"),
    "open-files-limit": _reached("open files", "refused to open another one", "open files"),
    "mapped-files-limit": _reached("memory mappings (vm.max_map_count)", "refused to map another file", "mapped files"),
    "cpu-time-limit": _reached("CPU time", "ended the process", "CPU time"),
    "file-size-limit": _reached("the size of a file", "refused to write more", "file size"),
    "locked-memory-limit": ReachedLimit(
        "The limit on locked memory is too low for transfers between GPUs and the network.",
        "locked memory",
        Severity.WARNING,
    ),
}
