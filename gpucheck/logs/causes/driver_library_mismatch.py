"""What of a log is driver-library-mismatch."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, field, stated, weight
from gpucheck.rules._start import nvml, starts, unserved
from gpucheck.rules.gpu_not_detected.driver_library_mismatch import _CUDA_COMPAT_REFUSED, _CUDA_MISMATCH, _NVML_MISMATCH


def in_log(log: Log) -> Finding | None:
    """Two versions that differ, or NVML's or CUDA's word for it."""
    compat = starts(log, str(_CUDA_COMPAT_REFUSED))
    told = [*unserved(log, "driver-mismatch"), *nvml(log, str(_NVML_MISMATCH)), *starts(log, str(_CUDA_MISMATCH)), *compat]
    reported = unserved(log, "driver-version")
    kernel, library = field([*told, *reported], "kernel"), field([*told, *reported], "library")
    if not told and starts(log) and kernel and library and _numbers(kernel) != _numbers(library):
        told = reported
    told = told or stated(log, "driver-library-mismatch")
    if not told:
        return None
    told.sort(key=lambda event: event.line)
    path = Fix(
        text="If cuda-compat's libcuda.so.1 was loaded: take its folder out of LD_LIBRARY_PATH, or remove that package",
        command="echo $LD_LIBRARY_PATH; ldconfig -p | grep libcuda; dpkg -l | grep cuda-compat",
    )
    restart = Fix(
        text="Restart the machine, so that the kernel module of the libraries' version is loaded", command="sudo reboot"
    )
    container = Fix(
        text="In a container: restart it, and remove the packages libnvidia-*, libcuda* and cuda-compat-* from its image"
    )
    compare = Fix(text="Compare the two versions", command="cat /proc/driver/nvidia/version; nvidia-smi")
    if kernel and library and kernel != library:
        summary = (
            f"The NVIDIA kernel module is version {kernel} and the driver's libraries are {library}:"
            " they work together only at the same version."
        )
    elif compat and len(compat) == len(told):
        summary = (
            "The driver's library does not fit its kernel module (CUDA error 804): either the driver was upgraded without"
            " a restart, or a forward-compatibility library (cuda-compat) was loaded on a GPU that does not take it."
        )
    else:
        summary = "The NVIDIA kernel module and the driver's libraries are of different versions."
    return Finding(
        summary=summary,
        evidence=cite(*told),
        fix=(restart, container, path, compare) if compat else (restart, container, compare),
        severity=weight(told),
    )


def _numbers(version: str) -> tuple[int, ...]:
    """TensorFlow prints 384.81 as 384.81.0, and 580.159.04 as 580.159.4."""
    numbers = [int(part) for part in version.split(".") if part.isdecimal()]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
