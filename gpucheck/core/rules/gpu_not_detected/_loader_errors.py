"""Find the copy of a library that the loader's message blames: it lacks a symbol or a version that another library needs."""

import re

from gpucheck.core.combiners.library_faults import Fault, LibraryFaults
from gpucheck.core.model import Finding, Fix, Severity, saw
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.commands import set_path

_VERSION = re.compile(r"(?P<folder>/[^\s:]*)/(?P<name>[^\s:/]+): version [`'](?P<version>[^']+)' not found")
_SYMBOL = re.compile(r"undefined symbol: (?P<symbol>[\w@.$]+),? version (?P<soname>lib[\w.+-]+\.so[\d.]*)")


def blamed(fault: Fault) -> str:
    """Return the soname of the library that lacks what another needs; the needing one's own if the loader names no other."""
    match = _SYMBOL.search(fault.library.open_error or "")
    return match["soname"] if match else fault.library.soname


def searched_first(faults: LibraryFaults, tensorflow: TensorFlow | None) -> Finding | None:
    """Find a library in a folder of LD_LIBRARY_PATH that lacks a version which TensorFlow's own files need.

    Such a folder often has an older libstdc++.so.6, which every process then loads.
    """
    match = _VERSION.search((tensorflow.error if tensorflow is not None else None) or "")
    folders = [folder for folder in faults.libraries.library_path if match and folder.rstrip("/") == match["folder"]]
    if tensorflow is None or match is None or not folders:
        return None
    kept = [folder for folder in faults.libraries.library_path if folder not in folders]
    return Finding(
        summary=f"LD_LIBRARY_PATH puts {match['name']} of {match['folder']} first, which lacks {match['version']}: TensorFlow can't be"
        " imported with it.",
        evidence=(*saw(tensorflow, "error"), *saw(faults.libraries, "library_path")),
        fix=(Fix(text="Remove its folder from LD_LIBRARY_PATH before Python starts", command=set_path("LD_LIBRARY_PATH", kept)),),
        severity=Severity.ERROR,
    )


def too_old(faults: LibraryFaults) -> Finding | None:
    """Find an installed package whose library lacks a symbol that another installed library needs: a pin of another framework."""
    packages = faults.installation.packages
    for fault in faults.faults if faults.presence.here and not faults.lists_gpu else ():
        match = _SYMBOL.search(fault.library.open_error or "")
        wheel = next((package for package in packages.nvidia if match and _contains(package.name, match["soname"])), None)
        if match is None or wheel is None:
            continue
        torch = next((package for package in packages.others if package.name == "torch"), None)
        separate = (
            Fix(text=f"If PyTorch {torch.version} then lacks it: install each framework in an environment of its own")
            if torch
            else None
        )
        return Finding(
            summary=f"{wheel.name} {wheel.version} does not fit {fault.soname} of {fault.library.package}: it lacks {match['symbol']}.",
            evidence=(*fault.evidence, *saw(packages, f"nvidia[{packages.nvidia.index(wheel)}].version")),
            fix=(faults.installation.context.cuda_libraries(), *((separate,) if separate else ())),
            severity=Severity.ERROR,
        )
    return None


def _contains(package: str, soname: str) -> bool:
    """Whether a wheel has this library: libnvJitLink.so.12 is in nvidia-nvjitlink-cu12, libcublasLt.so.12 in nvidia-cublas-cu12."""
    component = package.removeprefix("nvidia-").partition("-")[0]
    return soname.lower().startswith(f"lib{component}")
