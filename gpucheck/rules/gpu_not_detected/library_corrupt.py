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
    1. Check the room on the disk: df -h
    2. Lay the files down again: python -m pip install --force-reinstall --no-deps --no-cache-dir <package>==<version>
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

from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._commands import cuda_install, reinstall
from gpucheck.rules._faults import Fault, library_faults
from gpucheck.rules._gpus import absent, gpu_here
from gpucheck.rules._tensorflow import NO_TENSORFLOW_LIBRARIES, lists_gpu


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
def check(
    request: Request,
    container: Container,
    pci: Pci,
    driver: Driver,
    cuda: Cuda,
    interpreter: Interpreter,
    packages: Packages,
    libraries: Libraries,
    tensorflow: TensorFlow | None,
) -> Finding | Skip | None:
    """What wins is no sound library; an optional one is only a warning."""
    here = gpu_here(request, container, pci, driver, cuda)
    if not here:
        return absent(here)
    if libraries.tensorflow is None or not libraries.libraries:
        return NO_TENSORFLOW_LIBRARIES
    faults = [fault for fault in library_faults(libraries, required=False) if fault.kind == "corrupt"]
    if lists_gpu(tensorflow):
        faults = [fault for fault in faults if not fault.library.required]  # TensorFlow opened a sound one
    if not faults:
        return None
    worst = next((fault for fault in faults if fault.library.required), faults[0])
    more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
    words = worst.library.problem
    state = f"is {words}" if words else "can't be opened"
    opening = f"TensorFlow {libraries.tensorflow} can use no GPU: " if worst.library.required else ""
    return Finding(
        summary=f"{opening}{worst.soname} {state} ({worst.library.path}){more}.",
        evidence=tuple(item for fault in faults for item in fault.evidence(libraries)),
        fix=_fixes(interpreter, packages, faults),
        severity=None if worst.library.required else Severity.WARNING,
    )


def _fixes(interpreter: Interpreter, packages: Packages, faults: list[Fault]) -> tuple[Fix, ...]:
    sites = tuple({f"{one.folder}/" for one in packages.nvidia})
    ours = [fault.library.package for fault in faults if sites and (fault.library.path or "").startswith(sites)]
    again = reinstall(interpreter, packages, ours)
    if again is not None:
        return (Fix(text="See whether the disk is full", command="df -h"), again)
    folder = (faults[0].library.path or "").rpartition("/")[0]
    return (
        Fix(text=f"Take {folder} out of LD_LIBRARY_PATH, or install what lies there again"),
        cuda_install(interpreter, packages),
    )
