"""A library that lacks what another one needs: the check of the loader's messages, and the repairs."""

import re

from gpucheck.core.combiners.library_faults import Fault, LibraryFaults
from gpucheck.core.model import Finding, Fix, Fixes, Severity, saw
from gpucheck.core.probes.packages import Packages
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.commands import search_only, without
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected._cuda_builds import cuda_build
from gpucheck.core.system.shells import statement

_VERSION = r"(?P<folder>/[^\s:]*)/(?P<name>[^\s:/]+): version [`'](?P<version>[^']+)' not found"
_SYMBOL = r"undefined symbol: (?P<symbol>[\w@.$]+),? version (?P<soname>lib[\w.+-]+\.so[\d.]*)"


def blamed(fault: Fault) -> str:
    """Return the soname of the library that the loader's error blames; the failed library's own if it names no other."""
    match = re.search(_SYMBOL, fault.library.open_error or "")
    return match["soname"] if match else fault.library.soname


def searched_first(faults: LibraryFaults, tensorflow: TensorFlow | None, context: Context) -> Finding | None:
    """Report a library in a folder of LD_LIBRARY_PATH that lacks a version that TensorFlow's own files need.

    Such a folder often has an older libstdc++.so.6, which every process then loads.
    """
    libraries, error = faults.libraries, tensorflow.error if tensorflow is not None else None
    if tensorflow is not None and tensorflow.imported:
        return None
    copies = {copy.path.rpartition("/")[0]: (copy.path, copy.lacks) for copy in libraries.old_copies}
    if match := None if copies else re.search(_VERSION, error or ""):
        copies = {match["folder"]: (f"{match['folder']}/{match['name']}", match["version"])}
    kept = [folder for folder in libraries.library_path if (folder.rstrip("/") or "/") not in copies]
    if len(kept) == len(libraries.library_path):
        return None
    path, lacks = next(iter(copies.values()))
    repair = search_only("LD_LIBRARY_PATH", kept, f"{path} lacks {lacks}, which TensorFlow needs")
    return Finding(
        summary=f"LD_LIBRARY_PATH puts {path} first, which lacks {lacks}, so TensorFlow can't be imported.",
        evidence=(
            *(saw(tensorflow, "error") if error else ()),
            *saw(libraries, *(["old_copies"] if libraries.old_copies else []), "library_path"),
        ),
        fix=repairs(context, searched=statement(repair)),
        severity=Severity.ERROR,
        assignments=(repair,),
    )


def too_old(faults: LibraryFaults, packages: Packages, context: Context) -> Finding | None:
    """Report a package that another framework pins, and whose library lacks a symbol that another installed library needs."""
    for fault in faults.faults if faults.presence.present and not faults.lists_gpu else ():
        match = re.search(_SYMBOL, fault.library.open_error or "")
        wheel = next((package for package in packages.nvidia if match and _contains(package.name, match["soname"])), None)
        if match is None or wheel is None:
            continue
        torch = next((package for package in packages.others if package.name == "torch"), None)
        return Finding(
            summary=f"{wheel.name} {wheel.version} is incompatible with {fault.soname} from {fault.library.package}: it lacks {match['symbol']}.",
            evidence=(*fault.evidence, *saw(packages, f"nvidia[{packages.nvidia.index(wheel)}].version")),
            fix=repairs(context, torch=torch.version if torch else ""),
            severity=Severity.ERROR,
        )
    return None


def _contains(package: str, soname: str) -> bool:
    """Whether a wheel has this library: libnvJitLink.so.12 is in nvidia-nvjitlink-cu12, libcublasLt.so.12 in nvidia-cublas-cu12."""
    component = package.removeprefix("nvidia-").partition("-")[0]
    return soname.lower().startswith(f"lib{component}")


def repairs(
    context: Context,
    *,
    text: str = "",
    library: str = "",
    symbol: str = "",
    version: str = "",
    preload: str = "",
    searched: str = "",
    torch: str = "",
) -> Fixes:
    """Make the loader find the copy that the other libraries were built with.

    Args:
        context: what is known about the machine.
        text: the line of a log.
        library: in a log, the copy that lacks something, if the line names it.
        symbol: the missing symbol: "__nvJitLinkComplete_12_4".
        version: the version that it lacks ("GLIBCXX_3.4.29"), or the library that should have the symbol.
        preload: the command that removes other copies from LD_PRELOAD.
        searched: the command that removes their folder from LD_LIBRARY_PATH.
        torch: the version of PyTorch that is installed here.
    """
    if preload:
        yield Fix(text="Remove the other copies from LD_PRELOAD before Python starts", command=preload)
    if searched:
        yield Fix(text="Remove the other copies' folder from LD_LIBRARY_PATH before Python starts", command=searched)
    if context.interpreter is not None:
        if not (preload or searched):
            yield context.cuda_libraries()
        if torch:
            yield Fix(text=f"If PyTorch {torch} then lacks it: install each framework in its own environment")
    elif "libstdc++" in f"{library}{version}" or (version.startswith("GLIBCXX") and not symbol):
        yield from newer_runtime(context, text)
    else:
        yield from _of_log(context, symbol, text)


def newer_runtime(context: Context, text: str) -> Fixes:
    """Make the loader find a C++ library as new as the one that the program was built with."""
    folder = (re.search(_VERSION, text) or {"folder": ""})["folder"]
    # conda's Python searches bin/../lib even without the variable
    if folder and "/bin/../" not in folder and not re.match(r"/(?:usr/)?lib", folder):
        yield Fix(text=f"Remove {folder} from LD_LIBRARY_PATH", command=without("LD_LIBRARY_PATH", folder))
    newer = Fix(
        text="Install a newer C++ library into the environment, and make the loader search there first",
        command='conda install -y -c conda-forge libstdcxx-ng && export LD_LIBRARY_PATH="$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"',
        needs=("network",),
    )
    yield from context.only(newer, manager="conda")
    yield Fix(text="Use a newer system, or a build for this one: pip's packages accept an older C++ library than conda's")


def _of_log(context: Context, symbol: str, text: str) -> Fixes:
    if symbol.startswith("nccl"):  # pip's PyTorch loads pip's NCCL, which another package may have pinned to an older release
        yield Fix(text="Install a newer NCCL, which has this symbol", command=context.pip("--upgrade", "nvidia-nccl-cu12"))
    first = Fix(
        text="Start without the folders in LD_LIBRARY_PATH (also check ~/.bashrc and the container's ENV)",
        command="unset LD_LIBRARY_PATH",
    )
    yield from context.only(first, system="linux|wsl")
    if re.search(r"version (?:GLIBCXX|CXXABI)_", text):
        return  # a version of the C++ library, which no CUDA package contains
    if needed := re.search(r"nvJitLink\w*?_(\d+)_(\d+)", symbol):
        requirement = f"nvidia-nvjitlink-cu{needed[1]}>={needed[1]}.{needed[2]},<{int(needed[1]) + 1}"
        yield Fix(text=f"Install the nvJitLink of CUDA {needed[1]}.{needed[2]}", command=context.pip("--upgrade", requirement))
    if context.framework:
        yield from cuda_build(context)
    yield Fix(text="Install TensorFlow, PyTorch and JAX in separate virtual environments: each pins its own CUDA libraries")
