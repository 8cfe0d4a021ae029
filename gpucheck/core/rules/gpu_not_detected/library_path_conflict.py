"""LD_LIBRARY_PATH, LD_PRELOAD or the system loads a different copy of a CUDA library than the one installed with TensorFlow.

Symptom:
    Loaded runtime CuDNN library: 8.9.2 but source was compiled with: 9.3.0.
    undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12
    undefined symbol: cublasLtGetVersion, version libcublasLt.so.12
    libstdc++.so.6: version `GLIBCXX_3.4.20' not found (required by libtensorflow_framework.so.2)
    - pip shows the right versions, and TensorFlow behaves as if it had others
Cause:
    LD_LIBRARY_PATH is searched before the folders that TensorFlow knows, so an exported /usr/local/cuda/lib64 or conda lib folder
    silently overrides pip's libraries. One process then loads copies of different versions. A folder with an old libstdc++.so.6
    also overrides the system's, and TensorFlow can't be imported with it.
Verify:
    echo $LD_LIBRARY_PATH no longer prints its folder, and gpucheck finds pip's copies.
Unless:
    You chose that copy on purpose, and gpucheck trains with it.
Example:
    environment.variables.LD_LIBRARY_PATH = "/usr/local/cuda-12.3/lib64:/usr/local/nvidia/lib64:/home/user/.venv/lib/python3.12/site-packages/nvidia/cusolver/lib"
    libraries.library_path = ["/usr/local/cuda-12.3/lib64", "/usr/local/nvidia/lib64", "/home/user/.venv/lib/python3.12/site-packages/nvidia/cusolver/lib"]
    libraries.libraries[3] = {"soname": "libcufft.so.11", "required": true, "package": "nvidia-cufft-cu12", "path": "/usr/local/cuda-12.3/lib64/libcufft.so.11", "source": "LD_LIBRARY_PATH", "version": "11.0.12.1", "elsewhere": ["/home/user/.venv/lib/python3.12/site-packages/nvidia/cufft/lib/libcufft.so.11"], "opened": true}
    tensorflow.mapped_libraries = {"libcufft.so.11": "/usr/local/cuda-12.3/lib64/libcufft.so.11"}
    -> LD_LIBRARY_PATH puts libcufft.so.11 11.0.12.1 from /usr/local/cuda-12.3/lib64 before the 11.2.3.61 that was installed with TensorFlow.
References:
    https://man7.org/linux/man-pages/man8/ld.so.8.html
"""

import msgspec

from gpucheck.core.combiners.library_faults import LibraryFaults
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Finding, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.libraries import Libraries, Library
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.commands import set_path
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected._loader_errors import blamed, repairs, searched_first, too_old

_PRELOAD = "LD_PRELOAD"
_VARIABLES = ("LD_LIBRARY_PATH", _PRELOAD)


class Conflict(msgspec.Struct, frozen=True):
    """A library of which the loader chooses a copy other than pip's."""

    place: int
    library: Library
    folder: str  # of the chosen copy
    own_folder: str  # of pip's copy
    own_version: str | None
    incompatible: bool  # known to be incompatible, not only different
    incomplete: bool  # cuDNN without the parts next to it that it opens

    @property
    def described(self) -> str:
        """The version of the chosen copy, for messages."""
        version = self.library.version or "of another version"
        return f"{version}, without its parts," if self.incomplete else version


@rule(
    severity=Severity.WARNING,
    scope=Scope.ENVIRONMENT,
    explains=(
        "cudnn-missing",
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
    first_check="the variables LD_LIBRARY_PATH and LD_PRELOAD",
)
def check(
    faults: LibraryFaults, environment: Environment, tensorflow: TensorFlow | None, packages: Packages, context: Context
) -> Finding | Skip | None:
    """Report that the loader chooses another version; an error only if the versions are known to be incompatible."""
    if (finding := searched_first(faults, tensorflow, context)) is not None:
        return finding
    if not faults.presence.present:
        return faults.presence.skip
    if faults.unknown:
        return faults.unknown
    libraries = faults.libraries
    conflicts = [
        conflict for place in range(len(libraries.libraries)) if (conflict := _conflict(place, faults, packages)) is not None
    ]
    if not conflicts:
        return too_old(faults, packages, context)
    worst = next((conflict for conflict in conflicts if conflict.incompatible), conflicts[0])
    more = f" (and {len(conflicts) - 1} more)" if len(conflicts) > 1 else ""
    by = worst.library.source if worst.library.source in _VARIABLES else "The system's loader"
    own = f"the {worst.own_version}" if worst.own_version else "the copy"
    evidence = (
        f"libraries[{conflict.place}].{name}" for conflict in conflicts for name in ("path", "source", "version", "elsewhere")
    )
    return Finding(
        summary=f"{by} puts {worst.library.soname} {worst.described} from {worst.folder}{more} before"
        f" {own} that was installed with TensorFlow" + (", and the two do not work together." if worst.incompatible else "."),
        evidence=saw(libraries, *evidence, "library_path"),
        fix=_repairs(context, conflicts, libraries, environment.variables.get(_PRELOAD, "")),
        severity=Severity.ERROR if worst.incompatible else None,
    )


def _conflict(place: int, faults: LibraryFaults, packages: Packages) -> Conflict | None:
    library = faults.libraries.libraries[place]
    if library.path is None or library.source == "RUNPATH":
        return None
    wheel = next((package for package in packages.nvidia if package.name == library.package), None)
    if wheel is None or library.path.startswith(f"{wheel.folder}/nvidia/"):
        return None
    own = next((copy for copy in library.elsewhere if copy.startswith(f"{wheel.folder}/nvidia/")), None)
    refused = any(blamed(fault) == library.soname for fault in faults.required if fault.kind == "incompatible")
    # A preloaded CUDA library is intentional, so a copy of unknown version is also reported.
    same = library.source != _PRELOAD if library.version is None else _same_version(library.version, wheel.version)
    incomplete = library.soname.startswith("libcudnn") and bool(faults.libraries.cudnn_parts_missing)
    if own is None or not (refused or library.problem or incomplete or not same):
        return None
    if not library.required and not refused:
        return None  # a different NCCL is often selected on purpose
    incompatible = refused or bool(library.problem) or incomplete or _too_old_cudnn(library, faults.libraries.tensorflow)
    return Conflict(place, library, _folder(library.path), _folder(own), wheel.version, incompatible, incomplete)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _too_old_cudnn(library: Library, tensorflow: str | None) -> bool:
    needed = releases.release(tensorflow or "")
    if needed is None or library.version is None or not library.soname.startswith("libcudnn"):
        return False
    return not versions.at_least(library.version, needed.cudnn)


def _same_version(version: str, other: str) -> bool:
    """Whether two versions are equal; a file name often has fewer components than its package's version."""
    ours, theirs = versions.parse(version), versions.parse(other)
    length = min(len(ours), len(theirs))
    return ours[:length] == theirs[:length]


def _repairs(context: Context, conflicts: list[Conflict], libraries: Libraries, preload: str) -> Fixes:
    preloaded = {conflict.library.path for conflict in conflicts if conflict.library.source == _PRELOAD}
    searched = [conflict for conflict in conflicts if conflict.library.path not in preloaded]
    kept = [path for path in preload.replace(":", " ").split() if path not in preloaded]
    yield from repairs(
        context, preload=set_path(_PRELOAD, kept) if preloaded else "", searched=_path(searched, libraries) if searched else ""
    )


def _path(conflicts: list[Conflict], libraries: Libraries) -> str:
    """Return the command that sets the search path without the other copies' folders."""
    conflicting = {conflict.folder for conflict in conflicts}
    unsearched = [conflict.own_folder for conflict in conflicts if conflict.own_folder not in libraries.runpath]
    kept = [folder for folder in libraries.library_path if folder.rstrip("/") not in conflicting]
    return set_path("LD_LIBRARY_PATH", dict.fromkeys([*unsearched, *kept]))
