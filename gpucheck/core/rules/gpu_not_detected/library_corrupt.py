"""A library of CUDA, TensorFlow or a package that it imports is damaged, or was built for another processor.

Symptom:
    libcublas.so.12: file too short
    libcudnn.so.9: invalid ELF header
    libcudart.so.12: wrong ELF class: ELFCLASS32
    Bus error (core dumped) while TensorFlow opens its libraries
Cause:
    The file that the loader finds is empty, truncated, not a library, or built for another processor. Causes are a full disk
    during installation, an interrupted copy, a Git LFS pointer, or a folder of another architecture in LD_LIBRARY_PATH. pip
    records the size and hash of each installed file: gpucheck always compares sizes, and hashes with --full.
Verify:
    gpucheck --quick finds no damaged library.
Unless:
    Never: a damaged library can't be used.
Example:
    libraries.libraries[1].problem = "truncated"
    libraries.libraries[1].opened = false
    libraries.libraries[1].open_error = "libcublas.so.12: file too short"
    log.events = [{"kind": "library-missing", "line": 5, "text": "Could not load dynamic library 'libcublas.so.12'", "fields": {"soname": "libcublas.so.12", "error": "libcublas.so.12: file too short"}}, {"kind": "gpu-libraries-missing", "line": 6, "text": "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly", "fields": {}}]
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> TensorFlow 2.21.0 cannot use the GPU: libcublas.so.12 is truncated (/home/user/.venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12).
References:
    https://man7.org/linux/man-pages/man5/elf.5.html
"""

import re
from collections.abc import Iterable

from gpucheck.core.combiners.library_faults import Fault, LibraryFaults
from gpucheck.core.compat import libraries
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.commands import without
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import CHECK_DISK
from gpucheck.core.rules.gpu_not_detected._cuda_builds import cuda_build

_CUDNN = "nvidia-cudnn-cu12<10"


@rule(
    scope=Scope.ENVIRONMENT,
    explains=(
        "gpus-not-listed",
        "tensorflow-import-failed",
        "training-failed",
        "training-crashed",
        "cuda-libraries-missing",
        "cudnn-missing",
        "cpu-fallback",
        "model-saving-unavailable",
    ),
)
def check(faults: LibraryFaults, packages: Packages, context: Context) -> Finding | Skip | None:
    """Report a damaged library that the loader chooses, or a damaged installed file; a warning if TensorFlow does not need it."""
    damaged = _damaged(faults, packages)
    opened: list[Fault] = []
    if faults.presence.present and not faults.unknown:
        opened = [
            fault for fault in faults.faults if fault.kind == "corrupt" and not (faults.lists_gpu and fault.library.required)
        ]
    if opened:  # if TensorFlow lists a GPU, it opened intact copies of all required libraries
        return _of_opened(faults, opened, damaged, packages, context)
    if damaged:
        return _of_installed(faults, damaged, packages, context)
    return None if faults.presence.present is False else faults.presence.skip or faults.unknown


def _damaged(faults: LibraryFaults, packages: Packages) -> list[int]:
    """Return the indexes of damaged files in ``Packages.damaged``, required ones first; CUDA's only if the machine has a GPU."""
    places = [
        place
        for place, file in enumerate(packages.damaged)
        if faults.presence.present is not False or not file.package.startswith("nvidia-")
    ]
    return sorted(places, key=lambda place: not _required(place, faults, packages))


def _required(place: int, faults: LibraryFaults, packages: Packages) -> bool:
    """Whether the file is required for training, and definitely unusable."""
    file = packages.damaged[place]
    needed = {library.package for library in faults.libraries.libraries if library.required}
    ours = not file.package.startswith("nvidia-") or file.package.startswith("nvidia-nvjitlink")  # opened by cuSOLVER
    return file.problem != "changed" and (ours or file.package in needed)


def _of_opened(faults: LibraryFaults, corrupt: list[Fault], damaged: list[int], packages: Packages, context: Context) -> Finding:
    worst = next((fault for fault in corrupt if fault.library.required), corrupt[0])
    more = f", and {len(corrupt) - 1} more" if len(corrupt) > 1 else ""
    state = f"is {worst.library.problem}" if worst.library.problem else "can't be opened"
    opening = f"TensorFlow {faults.libraries.tensorflow} cannot use the GPU: " if worst.library.required else ""
    return Finding(
        summary=f"{opening}{worst.soname} {state} ({worst.library.path}){more}.",
        evidence=(*(item for fault in corrupt for item in fault.evidence), *_evidence(packages, damaged)),
        fix=repairs(
            context,
            path=worst.library.path or "",
            packages=_damaged_packages(packages, corrupt, damaged),
        ),
        severity=None if worst.library.required else Severity.WARNING,
    )


def _of_installed(faults: LibraryFaults, damaged: list[int], packages: Packages, context: Context) -> Finding:
    file = packages.damaged[damaged[0]]
    sizes = f": {file.found_bytes or 0} of {file.recorded_bytes} bytes" if file.problem in ("empty", "truncated") else ""
    state = "not the file that was installed (its hash differs)" if file.problem == "changed" else file.problem
    more = f", and {len(damaged) - 1} more" if len(damaged) > 1 else ""
    return Finding(
        summary=f"{file.path} of {file.package} {file.version} is {state}{sizes}{more}.",
        evidence=_evidence(packages, damaged),
        fix=repairs(context, packages=_damaged_packages(packages, [], damaged)),
        severity=None if _required(damaged[0], faults, packages) else Severity.WARNING,
    )


def _evidence(packages: Packages, damaged: Iterable[int]) -> tuple[Evidence, ...]:
    fields = ("path", "problem", "recorded_bytes", "found_bytes")
    return saw(packages, *(f"damaged[{place}].{field}" for place in damaged for field in fields))


def _damaged_packages(packages: Packages, corrupt: list[Fault], damaged: list[int]) -> list[str | None]:
    """Return the packages whose files are damaged."""
    sites = tuple({f"{package.folder}/" for package in packages.nvidia})
    ours = [fault.library.package for fault in corrupt if sites and (fault.library.path or "").startswith(sites)]
    return [*ours, *(packages.damaged[place].package for place in damaged)]


def repairs(context: Context, *, text: str = "", soname: str = "", path: str = "", packages: Iterable[str | None] = ()) -> Fixes:
    """Reinstall only the package with the damaged file.

    Args:
        context: what is known about the machine.
        text: the line of a log.
        soname: the damaged library.
        path: the path of the damaged library.
        packages: the installed packages with damaged files.
    """
    if again := context.reinstall(packages):
        yield from (again, CHECK_DISK)
        return
    named = re.search(rf"(/[^\s:'\"]*)/{re.escape(soname)}", text) if soname else None
    folder = path.rpartition("/")[0] or (named[1] if named else "")
    if re.match(r"/(?:usr/)?lib(?!.*-packages)", folder):  # a library of the system, without which nothing runs
        yield Fix(text=f"Reinstall the system package that contains {path or f'{folder}/{soname}'}")
    elif folder and "-packages" not in folder:
        leave = without("LD_LIBRARY_PATH", folder)
        yield Fix(text=f"Remove {folder} from LD_LIBRARY_PATH, or reinstall its contents", command=leave)
    elif context.interpreter is not None:
        yield Fix(text="Reinstall it from its original source: it is not on the package index")
    else:
        yield _of_log(context, soname)
    if path or (soname and context.framework):
        yield from cuda_build(context)
    if not context.windows:
        yield CHECK_DISK


def _of_log(context: Context, soname: str) -> Fix:
    """Reinstall the package of this library, derived from its name."""
    version = context.framework_version or releases.LATEST
    packages = {library.soname: library.package for library in libraries.libraries(version)}
    part = soname.partition(".so")[0].partition("_")[0]
    package = next((name for known, name in packages.items() if known.startswith(f"{part}.")), "") if part else ""
    if not package:
        package = context.framework or "tensorflow"
    return Fix(
        text="Reinstall only the package that contains the damaged file",
        command=context.pip(
            "--force-reinstall", "--no-deps", "--no-cache-dir", package if package != "nvidia-cudnn-cu12" else _CUDNN
        ),
    )
