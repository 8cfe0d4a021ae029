"""ptxas and libdevice: where XLA searches for them, and which one it chooses."""

import posixpath
import re
from collections.abc import Iterable, Iterator

from gpucheck.core.compat import libraries, versions
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.probes._distributions import Installed

_DATA_FOLDER = "./cuda_sdk_lib"  # XLA's default for --xla_gpu_cuda_data_dir, relative to the working directory


class CudaTool(Fact, frozen=True, kw_only=True):
    """A program or data file that XLA needs, found on TensorFlow's search path."""

    path: str | None = None
    version: str | None = None
    elsewhere: tuple[str, ...] = ()


def ptxas(host: Host, tensorflow: str, distributions: dict[str, Installed]) -> CudaTool:
    """Return the ptxas that XLA chooses: the first with an accepted version. An unknown version is treated as accepted."""
    folders = [folder for folder in host.env.get("PATH", "").split(":") if folder]
    paths = [f"{_data_folder(host)}/bin/ptxas", *(f"{folder}/ptxas" for folder in folders)]
    present = list(_present(host, [*paths, *_filled(libraries.PTXAS_SEARCH, tensorflow)]))
    for path in present:
        version = _version(host, path, distributions)
        if _accepted(version):
            return CudaTool(path=path, version=version, elsewhere=tuple(other for other in present if other != path))
    return CudaTool(elsewhere=tuple(present))


def libdevice(host: Host, tensorflow: str) -> CudaTool:
    """Return the libdevice.10.bc that XLA chooses: the first that exists."""
    first = f"{_data_folder(host)}/nvvm/libdevice/libdevice.10.bc"
    present = list(_present(host, [first, *_filled(libraries.LIBDEVICE_SEARCH, tensorflow)]))
    return CudaTool(path=present[0] if present else None, elsewhere=tuple(present[1:]))


def unsearched(
    host: Host, distributions: dict[str, Installed], path: Iterable[str], *, lacks_ptxas: bool, lacks_libdevice: bool
) -> Iterator[CudaTool]:
    """Return where the missing files are: toolkits, newest first, wheels and conda environments, each with its ptxas' version."""
    if not (lacks_ptxas or lacks_libdevice):
        return
    toolkits = sorted(host.glob("/usr/local/cuda-*"), key=lambda folder: versions.parse(folder.rpartition("-")[2]), reverse=True)
    named = (host.env.get(name, "").rstrip("/") for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CONDA_PREFIX"))
    wheels = (f"{site}/{libraries.TOOLS_FOLDER}" for site in path)
    for folder in dict.fromkeys([*wheels, *filter(None, named), *toolkits, "/usr/lib/cuda"]):
        ptxas = next(_present(host, [f"{folder}/bin/ptxas"]), None)
        bitcode = next(_present(host, [f"{folder}/nvvm/libdevice/libdevice.10.bc"]), None)
        version = _version(host, ptxas, distributions) if ptxas else None
        if lacks_ptxas and (ptxas is None or not _accepted(version)):
            continue
        if bitcode is not None or not lacks_libdevice:
            yield CudaTool(path=folder, version=version)


def _accepted(version: str | None) -> bool:
    return version is None or (version not in libraries.PTXAS_BROKEN and versions.at_least(version, libraries.PTXAS_MIN))


def _data_folder(host: Host) -> str:
    folder = _DATA_FOLDER
    for flag in _flags(host.env.get("XLA_FLAGS", "")):
        if flag.startswith("--xla_gpu_cuda_data_dir="):
            folder = flag.partition("=")[2].rstrip("/") or folder
    return folder


def _flags(text: str) -> list[str]:
    """Split as XLA does: at blanks, except inside quotes."""
    if "'" not in text and '"' not in text:
        return text.split()
    import shlex

    try:
        return shlex.split(text)
    except ValueError:  # an unclosed quote
        return text.split()


def _filled(templates: Iterable[str], tensorflow: str) -> Iterator[str]:
    site = posixpath.dirname(tensorflow)
    for template in templates:
        path = template.format(site=site, tensorflow=tensorflow)
        yield path if path.startswith(".") else posixpath.normpath(path)


def _present(host: Host, paths: Iterable[str]) -> Iterator[str]:
    paths_so_far = set()
    for path in paths:
        if host.read_bytes(path, size=1) is not None and (real := host.real(path)) not in paths_so_far:
            paths_so_far.add(real)
            yield path


def _version(host: Host, path: str, distributions: dict[str, Installed]) -> str | None:
    """Return the version of the wheel or toolkit with the file, else of the program itself, except with --quick."""
    real = host.real(path)
    for wheel in distributions.values():
        if wheel.name.startswith("nvidia-cuda-nvcc-cu"):  # CUDA 13's wheel has another folder
            own = f"{wheel.folder}/{libraries.TOOLS_FOLDER}/bin/ptxas"
            if own == path or host.real(own) == real:
                return wheel.version
    root = posixpath.dirname(posixpath.dirname(real))
    toolkit = host.read(f"{root}/version.json")
    if toolkit and (component := re.search(r'"cuda_nvcc"[^}]*"version"\s*:\s*"([\d.]+)"', toolkit)):
        return component[1]
    if host.request.level >= Level.DEFAULT:
        answer = host.run([path, "--version"], timeout=5.0)
        if version_line := re.search(r"\bV(\d+(?:\.\d+)+)", answer.stdout):
            return version_line[1]
    folder = re.fullmatch(r"cuda-(\d+(?:\.\d+)*)", posixpath.basename(root))
    return folder[1] if folder else None
