"""LD_LIBRARY_PATH or the system puts another copy of a CUDA library before the one that was installed with TensorFlow.

Symptom:
    Loaded runtime CuDNN library: 8.9.2 but source was compiled with: 9.3.0.
    undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12
    undefined symbol: cublasLtGetVersion, version libcublasLt.so.12
    pip shows the right versions, and TensorFlow behaves as if it had others
Cause:
    LD_LIBRARY_PATH is searched before the folders that TensorFlow knows, so an exported /usr/local/cuda/lib64 or conda lib folder
    silently wins over pip's libraries. Copies of different versions then meet in one process.
Fix:
    1. Take the folder out of LD_LIBRARY_PATH (look into ~/.bashrc and the container's ENV), or: unset LD_LIBRARY_PATH
    2. Or make the versions the same
Verify:
    echo $LD_LIBRARY_PATH no longer names it, and gpucheck finds pip's copies.
Unless:
    You chose that copy on purpose, and gpucheck trains with it.
Example:
    environment.variables.LD_LIBRARY_PATH = "/usr/local/cuda-12.3/lib64:/usr/local/nvidia/lib64:/home/user/.venv/lib/python3.12/site-packages/nvidia/cusolver/lib"
    libraries.library_path = ["/usr/local/cuda-12.3/lib64", "/usr/local/nvidia/lib64", "/home/user/.venv/lib/python3.12/site-packages/nvidia/cusolver/lib"]
    libraries.libraries[3] = {"soname": "libcufft.so.11", "required": true, "package": "nvidia-cufft-cu12", "path": "/usr/local/cuda-12.3/lib64/libcufft.so.11", "source": "LD_LIBRARY_PATH", "version": "11.0.12.1", "elsewhere": ["/home/user/.venv/lib/python3.12/site-packages/nvidia/cufft/lib/libcufft.so.11"], "opened": true}
    tensorflow.mapped_libraries = {"libcufft.so.11": "/usr/local/cuda-12.3/lib64/libcufft.so.11"}
    -> LD_LIBRARY_PATH puts libcufft.so.11 11.0.12.1 of /usr/local/cuda-12.3/lib64 before the 11.2.3.61 that was installed with TensorFlow.
References:
    https://man7.org/linux/man-pages/man8/ld.so.8.html
"""

from typing import NamedTuple

from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.libraries import Libraries, Library
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.rules._faults import library_faults
from gpucheck.rules._gpus import absent, gpu_here
from gpucheck.rules._tensorflow import NO_TENSORFLOW_LIBRARIES


class Conflict(NamedTuple):
    """A library whose winning copy is not the one that pip installed."""

    place: int
    library: Library
    folder: str  # of the copy that wins
    own_folder: str | None  # of pip's
    own_version: str | None
    unfit: bool  # known not to work, rather than merely other


@rule(
    severity=Severity.WARNING,
    scope=Scope.ENVIRONMENT,
    explains=(
        "cudnn-version-mismatch",
        "library-corrupt",
        "cudnn-init-failed",
        "cublas-init-failed",
        "gpus-not-listed",
        "tensorflow-import-failed",
        "nccl-failed",
        "training-failed",
        "training-crashed",
    ),
)
def check(
    request: Request,
    container: Container,
    pci: Pci,
    driver: Driver,
    cuda: Cuda,
    packages: Packages,
    libraries: Libraries,
) -> Finding | Skip | None:
    """Another version wins; an error only where the two are known not to work together."""
    here = gpu_here(request, container, pci, driver, cuda)
    if not here:
        return absent(here)
    if libraries.tensorflow is None or not libraries.libraries:
        return NO_TENSORFLOW_LIBRARIES
    found = [
        conflict
        for place, library in enumerate(libraries.libraries)
        if (conflict := _conflict(place, library, packages, libraries)) is not None
    ]
    if not found:
        return None
    worst = next((conflict for conflict in found if conflict.unfit), found[0])
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    by = "LD_LIBRARY_PATH" if worst.library.source == "LD_LIBRARY_PATH" else "The system's loader"
    own = f"the {worst.own_version}" if worst.own_version else "the copy"
    return Finding(
        summary=f"{by} puts {worst.library.soname} {worst.library.version or 'of another version'} of {worst.folder}{more} before"
        f" {own} that was installed with TensorFlow" + (", and the two do not work together." if worst.unfit else "."),
        evidence=(
            *(
                item
                for conflict in found
                for item in saw(
                    libraries,
                    *(f"libraries[{conflict.place}].{name}" for name in ("path", "source", "version", "elsewhere")),
                )
            ),
            *saw(libraries, "library_path"),
        ),
        fix=(_fix(found, libraries),),
        severity=Severity.ERROR if worst.unfit else None,
    )


def _conflict(place: int, library: Library, packages: Packages, libraries: Libraries) -> Conflict | None:
    if library.path is None or library.source == "RUNPATH":
        return None
    wheel = next((one for one in packages.nvidia if one.name == library.package), None)
    own = next((copy for copy in library.elsewhere if wheel and copy.startswith(f"{wheel.folder}/nvidia/")), None)
    if wheel is None or own is None or library.path.startswith(f"{wheel.folder}/nvidia/"):
        return None
    refused = any(fault.place == place and fault.kind == "unfit" for fault in library_faults(libraries))
    if not refused and not library.problem and (library.version is None or _same(library.version, wheel.version)):
        return None
    if not library.required and not refused:
        return None  # another NCCL is often put first on purpose
    known = releases.release(libraries.tensorflow or "")
    too_old = (
        known is not None
        and library.version is not None
        and library.soname.startswith("libcudnn")
        and not versions.at_least(library.version, known.cudnn)
    )
    return Conflict(
        place,
        library,
        library.path.rpartition("/")[0],
        own.rpartition("/")[0],
        wheel.version,
        refused or too_old or bool(library.problem),
    )


def _same(one: str, other: str) -> bool:
    """A file's name often carries fewer places than its package's version."""
    ours, theirs = versions.parse(one), versions.parse(other)
    length = min(len(ours), len(theirs))
    return ours[:length] == theirs[:length]


def _fix(found: list[Conflict], libraries: Libraries) -> Fix:
    foreign = {conflict.folder for conflict in found}
    unsearched = [one.own_folder for one in found if one.own_folder and one.own_folder not in libraries.runpath]
    kept = [folder for folder in libraries.library_path if folder.rstrip("/") not in foreign]
    folders = list(dict.fromkeys([*unsearched, *kept]))
    return Fix(
        text="Take the other copies' folder out of LD_LIBRARY_PATH before Python starts",
        command=f'export LD_LIBRARY_PATH="{":".join(folders)}"' if folders else "unset LD_LIBRARY_PATH",
    )
