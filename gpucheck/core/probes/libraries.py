"""The shared libraries that the installed TensorFlow opens: the copies that the loader chooses, other copies, and their state.

The search order is the loader's: LD_LIBRARY_PATH, the RUNPATH of the library that calls dlopen
(libtensorflow_framework.so.2), the ld.so cache, the default folders. Libraries that another module loaded before TensorFlow
can't be detected here; the mapped libraries of the TensorFlow probe show them.
"""

import posixpath
import time
from collections.abc import Iterable, Iterator

import msgspec

from gpucheck.core.child.messages.machine import LibrariesTask, LibraryOpened
from gpucheck.core.compat import libraries as tables
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes import _cuda_tools, _distributions, _elf
from gpucheck.core.probes._cuda_tools import CudaTool as CudaTool
from gpucheck.core.probes._distributions import Installed
from gpucheck.core.probes._loader import Loader


class Library(Fact, frozen=True, kw_only=True):
    """One soname that TensorFlow opens."""

    soname: str  # "libcusolver.so.11"
    required: bool  # TensorFlow registers no GPU without it
    package: str | None = None  # the wheel that provides it: "nvidia-cusolver-cu12"
    path: str | None = None  # the copy the loader chooses (or, if there is no other, skips); None: it finds none
    source: str | None = None  # "LD_PRELOAD", "LD_LIBRARY_PATH", "RUNPATH", "RPATH", "ld.so.cache", "default"
    version: str | None = None  # from the resolved file's name, or its wheel: "9.3.0"
    problem: str | None = None  # of the chosen file: "empty", "truncated", "not a library", "built for aarch64", "unreadable"
    elsewhere: tuple[str, ...] = ()  # copies the loader does not choose: the wheel's own, a toolkit's
    lacks: tuple[str, ...] = ()  # NVIDIA libraries that it depends on and that are not found
    opened: bool | None = None  # dlopen succeeded in a child; None: not tried (--quick)
    open_error: str | None = None  # dlerror's message, or how the child ended


class OldCopy(Fact, frozen=True, kw_only=True):
    """A copy in a folder of LD_LIBRARY_PATH that lacks symbols which TensorFlow's own library needs."""

    path: str
    lacks: str  # the first missing version of symbols: "GLIBCXX_3.4.20"


class Libraries(Fact, frozen=True, kw_only=True):
    """The libraries of a TensorFlow installed on Linux; without one, ``tensorflow`` is None and the rest is empty."""

    tensorflow: str | None = None  # version that these libraries belong to
    loader: str | None = None  # the library whose RUNPATH applies
    runpath: tuple[str, ...] = ()  # its entries, $ORIGIN resolved
    library_path: tuple[str, ...] = ()  # LD_LIBRARY_PATH, split
    old_copies: tuple[OldCopy, ...] = ()  # of the libraries that ``loader`` is linked with: libstdc++.so.6
    libraries: tuple[Library, ...] = ()
    cudnn_parts_missing: tuple[str, ...] = ()  # parts of cuDNN 9 that are missing beside the chosen libcudnn.so.9
    ptxas: CudaTool = CudaTool()
    libdevice: CudaTool = CudaTool()
    # Folders that have the missing ptxas or libdevice, each with its ptxas' version; searched only if one is missing.
    xla_folders: tuple[CudaTool, ...] = ()
    other_versions: tuple[str, ...] = ()  # libcudart of other CUDA majors: "/usr/local/cuda-13.0/lib64/libcudart.so.13"


FRAMEWORK = "libtensorflow_framework.so.2"
LIMIT_SECONDS = 30.0  # of the probe: a hanging file system must not use up the whole run's time
OPEN_SECONDS = 20.0  # for all libraries together; an uncached gigabyte takes some seconds
RESTARTS_MAX = 3  # of the opening child, each time without the library that crashed it

_NVIDIA = ("libcu", "libnv")
CUDNN = "libcudnn.so.9"
# The libraries that it opens at first use (NVIDIA cuDNN, Backend API Overview: dependency structure on Linux).
CUDNN_PARTS = tuple(
    f"libcudnn_{part}.so.9"
    for part in ("graph", "ops", "cnn", "adv", "engines_precompiled", "engines_runtime_compiled", "heuristic")
)


@probe(level=Level.QUICK, tensorflow=True, limit_seconds=LIMIT_SECONDS)
def read(host: Host) -> Libraries:
    """Resolve each soname from the ELF headers and the search path; except with --quick, also open each one in a child."""
    if host.platform != "linux":
        return Libraries()
    interpreter = _distributions.interpreter(host)
    distributions = _distributions.installed(host, interpreter.path)
    folder = _distributions.tensorflow_folder(host, interpreter.path)
    tensorflow = _distributions.provider(host, _distributions.flavours(distributions), folder)
    if tensorflow is None:
        return Libraries()
    # If a user's folder hides the package, that folder has no libraries.
    folder = _distributions.tensorflow_folder(host, [tensorflow.folder]) or folder or f"{tensorflow.folder}/tensorflow"
    caller = _caller(host, folder)
    assumed = tuple(f"$ORIGIN/../{entry}" for entry in tables.runpath(tensorflow.version) or ())
    loader = Loader(host, caller, assumed)
    fact = Libraries(
        tensorflow=tensorflow.version,
        loader=caller if loader.readable else None,
        runpath=loader.runpath,
        library_path=loader.library_path,
        old_copies=tuple(_old_copies(host, loader, caller)),
    )
    if not _opens_cuda(host, tensorflow) or not (loader.readable or assumed):
        return fact
    extra = _extra_folders(host, interpreter.prefix)
    needed = tables.libraries(tensorflow.version) or tables.libraries(releases.LATEST)
    resolved = tuple(_library(host, loader, library, distributions, extra) for library in needed)
    ptxas, libdevice = _cuda_tools.ptxas(host, folder, distributions), _cuda_tools.libdevice(host, folder)
    return msgspec.structs.replace(
        fact,
        libraries=_opened(host, tuple(_with_needs(host, loader, resolved))),
        cudnn_parts_missing=_cudnn_parts_missing(host, resolved),
        ptxas=ptxas,
        libdevice=libdevice,
        xla_folders=tuple(
            _cuda_tools.unsearched(
                host, distributions, interpreter.path, lacks_ptxas=ptxas.path is None, lacks_libdevice=libdevice.path is None
            )
        ),
        other_versions=_other_versions(host, loader, needed, (*extra, *(f"{site}/nvidia/cu13/lib" for site in interpreter.path))),
    )


def _caller(host: Host, folder: str) -> str:
    """Return the library that calls dlopen. Conda installs it in the environment's lib, with a link from the package."""
    path = f"{folder}/{FRAMEWORK}"
    shared = posixpath.normpath(f"{folder}/../../../{FRAMEWORK}")
    linked = host.link(path) is not None or host.read_bytes(path, size=1) is None
    return shared if linked and host.read_bytes(shared, size=1) is not None else path


def _old_copies(host: Host, loader: Loader, caller: str) -> Iterator[OldCopy]:
    """Yield the copies that the loader takes from LD_LIBRARY_PATH and that TensorFlow can't be linked with."""
    names = {name for folder in loader.library_path for name in host.names(folder)}
    for soname in _elf.needed(host, caller) if names else ():
        copy = loader.find(soname) if soname in names else None
        if copy is not None and copy.problem is None and copy.source == "LD_LIBRARY_PATH":
            lacks = _elf.missing_version(host, caller, soname, copy.path)
            if lacks is not None:
                yield OldCopy(path=copy.path, lacks=lacks)


def _opens_cuda(host: Host, tensorflow: Installed) -> bool:
    """Whether this build opens CUDA libraries; for Arm, only NVIDIA's own builds do."""
    if tensorflow.name in _distributions.WITHOUT_CUDA:
        return False
    return host.uname()[2] != "aarch64" or "+nv" in tensorflow.version


def _extra_folders(host: Host, prefix: str) -> tuple[str, ...]:
    """Return folders that may have copies outside the loader's search path: toolkits and conda environments."""
    conda = host.env.get("CONDA_PREFIX")
    return (
        *host.glob("/usr/local/cuda*/lib64"),
        *host.glob("/usr/local/cuda*/targets/*/lib"),
        *([f"{conda}/lib"] if conda else []),
        f"{prefix}/lib",
    )


def _library(
    host: Host, loader: Loader, needed: tables.Library, distributions: dict[str, Installed], extra: tuple[str, ...]
) -> Library:
    stem = needed.package.rpartition("-cu")[0] + "-cu"
    wheels = [wheel for wheel in distributions.values() if wheel.name.startswith(stem)]
    folders = tuple(f"{wheel.folder}/{needed.folder}" for wheel in wheels)
    copy = loader.find(needed.soname)
    real = host.real(copy.path) if copy else None
    copies = loader.copies(needed.soname, (*folders, *extra))
    return Library(
        soname=needed.soname,
        required=needed.required,
        package=needed.package,
        path=copy.path if copy else None,
        source=copy.source if copy else None,
        version=_version(host, needed, copy.path, wheels) if copy else None,
        problem=copy.problem if copy else None,
        elsewhere=tuple(path for path in copies if host.real(path) != real),
    )


def _with_needs(host: Host, loader: Loader, libraries: tuple[Library, ...]) -> Iterator[Library]:
    """Add the NVIDIA libraries that each intact library depends on and that neither TensorFlow's search path nor its own has."""
    present = {library.soname for library in libraries if library.path is not None}
    for library in libraries:
        needs = () if library.path is None or library.problem else _elf.needed(host, library.path)
        lacks = [
            soname for soname in needs if soname.startswith(_NVIDIA) and soname not in present and loader.find(soname) is None
        ]
        if lacks:
            own = Loader(host, library.path)
            lacks = [soname for soname in lacks if own.find(soname) is None]
        yield msgspec.structs.replace(library, lacks=tuple(lacks)) if lacks else library


def _version(host: Host, needed: tables.Library, path: str, wheels: list[Installed]) -> str | None:
    """Return the version of the wheel whose folder has the file, else the version in the file's full name."""
    real = host.real(path)
    folders = {host.real(posixpath.dirname(path)), posixpath.dirname(real)}
    owners = {wheel.version for wheel in wheels if host.real(f"{wheel.folder}/{needed.folder}") in folders}
    if owners:  # the cu12 and the cu13 wheel of cuDNN install the same files: names don't show the owner
        return owners.pop() if len(owners) == 1 else None
    version = posixpath.basename(real).partition(".so.")[2]
    return version if version != needed.soname.partition(".so.")[2] else None


def _other_versions(host: Host, loader: Loader, needed: tuple[tables.Library, ...], extra: tuple[str, ...]) -> tuple[str, ...]:
    """Return the CUDA runtimes that this TensorFlow does not use, each file once."""
    sonames = [library.soname for library in needed if library.soname.startswith("libcudart.")]
    paths = [f"{folder}/{name}" for folder in (*loader.folders(), *extra) for name in _runtimes(host.names(folder))]
    paths += [path for soname in _runtimes(loader.cached()) for path in loader.cached()[soname]]
    other_paths: dict[str, str] = {}
    for path in paths:
        if not any(f"{posixpath.basename(path)}.".startswith(f"{soname}.") for soname in sonames):
            other_paths.setdefault(host.real(path), path)
    return tuple(other_paths.values())


def _runtimes(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith("libcudart.so.")]


def _cudnn_parts_missing(host: Host, libraries: tuple[Library, ...]) -> tuple[str, ...]:
    for library in libraries:
        if library.soname == CUDNN and library.path:
            beside = {posixpath.dirname(library.path), posixpath.dirname(host.real(library.path))}
            names = {name for folder in beside for name in host.names(folder)}
            return tuple(part for part in CUDNN_PARTS if part not in names)
    return ()


def _opened(host: Host, libraries: tuple[Library, ...]) -> tuple[Library, ...]:
    """Open the chosen libraries in a child; retry without one that crashed it."""
    paths = {library.soname: library.path for library in libraries if library.path is not None}
    if host.request.level < Level.DEFAULT or not any(entry.required for entry in libraries if entry.soname in paths):
        return libraries
    opened: dict[str, bool | None] = {}
    errors: dict[str, str | None] = {}
    deadline = time.monotonic() + OPEN_SECONDS
    for _ in range(1 + RESTARTS_MAX):
        child = host.child(LibrariesTask(tuple(paths.items())), limit=max(0.1, deadline - time.monotonic()))
        ending = child.end()
        for soname, answer in child.messages(LibraryOpened).items():
            opened[soname], errors[soname] = answer.error is None, answer.error
        failed_soname = ending.stage.job if ending.stage else ""
        if ending.ok or failed_soname not in paths:
            break
        crashed = ending.how.startswith("killed by")
        opened[failed_soname], errors[failed_soname] = False if crashed else None, ending.how  # after a timeout it is unknown
        if not crashed:
            break
        del paths[failed_soname]
    return tuple(
        msgspec.structs.replace(library, opened=opened.get(library.soname), open_error=errors.get(library.soname))
        for library in libraries
    )
