"""A CUDA library that TensorFlow opens is damaged, or was built for another kind of machine.

Symptom:
    libcublas.so.12: file too short
    libcudnn.so.9: invalid ELF header
    wrong ELF class: ELFCLASS32
    Bus error (core dumped) while TensorFlow opens its libraries
Cause:
    The file that the loader takes is empty, cut off, no library at all, or made for another processor: an installation that ran
    out of disk space, an interrupted copy, a Git LFS pointer, a folder of another architecture in LD_LIBRARY_PATH.
Fix:
    1. See whether the disk is full
       ? df -h
    2. Lay the files of the CUDA libraries and TensorFlow down again
       $ python -m pip install --force-reinstall --no-cache-dir "tensorflow[and-cuda]"
    3. If it lies outside site-packages, take its folder out of LD_LIBRARY_PATH
Verify:
    gpucheck --quick finds no damaged library.
Unless:
    There is no other way: a damaged library can't be used.
Example:
    libraries.libraries[1].problem = "truncated"
    libraries.libraries[1].opened = false
    libraries.libraries[1].open_error = "libcublas.so.12: file too short"
    log.events = [{"kind": "library-missing", "line": 5, "text": "Could not load dynamic library 'libcublas.so.12'", "fields": {"soname": "libcublas.so.12", "error": "libcublas.so.12: file too short"}}, {"kind": "gpu-libraries-missing", "line": 6, "text": "Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly", "fields": {}}]
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> TensorFlow 2.21.0 can use no GPU: libcublas.so.12 is truncated (/home/user/.venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12).
References:
    https://man7.org/linux/man-pages/man5/elf.5.html
"""

from gpucheck.combiners.installation import Installation
from gpucheck.combiners.library_faults import Fault, LibraryFaults
from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Scope, Severity, Skip


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=(
        "gpus-not-listed",
        "tensorflow-import-failed",
        "training-failed",
        "training-crashed",
        "cuda-libraries-missing",
        "cudnn-missing",
        "cpu-fallback",
    ),
)
def check(faults: LibraryFaults) -> Finding | Skip | None:
    """What wins is no sound library; an optional one is only a warning."""
    installation = faults.installation
    if not faults.presence.here:
        return faults.presence.skip
    if faults.unknown:
        return faults.unknown
    corrupt = [fault for fault in faults.faults if fault.kind == "corrupt"]
    if faults.lists_gpu:  # TensorFlow opened a sound one of each that it requires
        corrupt = [fault for fault in corrupt if not fault.library.required]
    if not corrupt:
        return None
    worst = next((fault for fault in corrupt if fault.library.required), corrupt[0])
    more = f", and {len(corrupt) - 1} more" if len(corrupt) > 1 else ""
    state = f"is {worst.library.problem}" if worst.library.problem else "can't be opened"
    opening = f"TensorFlow {faults.libraries.tensorflow} can use no GPU: " if worst.library.required else ""
    return Finding(
        summary=f"{opening}{worst.soname} {state} ({worst.library.path}){more}.",
        evidence=tuple(item for fault in corrupt for item in fault.evidence),
        fix=_fixes(installation, corrupt),
        severity=None if worst.library.required else Severity.WARNING,
    )


def _fixes(installation: Installation, corrupt: list[Fault]) -> tuple[Fix, ...]:
    sites = tuple({f"{package.folder}/" for package in installation.packages.nvidia})
    ours = [fault.library.package for fault in corrupt if sites and (fault.library.path or "").startswith(sites)]
    again = installation.reinstall(ours)
    if again is not None:
        return (Fix(text="See whether the disk is full", command="df -h", kind="look"), again)
    folder = (corrupt[0].library.path or "").rpartition("/")[0]
    return (
        Fix(text=f"Take {folder} out of LD_LIBRARY_PATH, or install what lies there again"),
        installation.cuda_libraries(),
    )
