"""What of a log is driver-library-missing."""

from gpucheck.compat import versions
from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Event, Log
from gpucheck.rules._log import cite
from gpucheck.rules._start import ending, unserved, without_driver
from gpucheck.rules.gpu_not_detected.driver_library_missing import _JIT_COMPILER_NOT_FOUND


def in_log(log: Log) -> Finding | None:
    """The kernel's half answers, or nvidia-smi is here, and a library of the driver is not; or the one that compiles."""
    end = ending(log)
    slurm = unserved(log, "scheduler-without-nvml")
    if slurm and (end is None or end.code == "driver-library-missing"):
        return _unseen_by_slurm(slurm)
    compiler = [event for event in unserved(log, "cuda-error") if event.fields.get("code") == _JIT_COMPILER_NOT_FOUND]
    if compiler:
        library, told, version = "libnvidia-ptxjitcompiler.so.1", compiler, None
    elif end is not None and end.code == "driver-library-missing":
        unfound = without_driver(log)
        watching = unfound and end.result is None and not any("cuda" in event.text.lower() for event in unfound)
        library, told, version = "libnvidia-ml.so.1" if watching else "libcuda.so.1", end.events, end.kernel
    else:
        return None
    here = version or compiler or any("nvidia-smi" in event.text.lower() for event in told)
    summary = f"The NVIDIA driver{f' {version}' if version else ''} is here, but its library {library} is not found."
    return Finding(
        summary=summary if here else f"The NVIDIA driver's library {library} is not found where this program runs.",
        evidence=cite(*told),
        fix=(
            Fix(text="In a container: start it again with -e NVIDIA_DRIVER_CAPABILITIES=compute,utility beside --gpus all"),
            Fix(
                text="See whether the loader knows it, and make its list anew",
                command="sudo ldconfig; ldconfig -p | grep libcuda",
            ),
            Fix(text="Ubuntu: install the libraries of the module's version", command=_ubuntu_libraries(version)),
            Fix(text="Fedora with RPM Fusion: install them", command="sudo dnf install -y xorg-x11-drv-nvidia-cuda"),
        ),
    )


def _unseen_by_slurm(told: list[Event]) -> Finding:
    return Finding(
        summary="Slurm cannot detect this node's GPUs: it does not find NVML (libnvidia-ml.so.1), or was built without it.",
        evidence=cite(*told),
        fix=(
            Fix(text="See whether the loader knows the library", command="ldconfig -p | grep libnvidia-ml; nvidia-smi -L"),
            Fix(text="If it does: build Slurm's packages again, with NVIDIA's header nvml.h installed (libnvidia-ml-dev)"),
            Fix(text="Or name the GPUs in gres.conf in place of AutoDetect=nvml: Name=gpu File=/dev/nvidia[0-7]"),
        ),
    )


def _ubuntu_libraries(version: str | None) -> str | None:
    branch = versions.parse(version or "")[:1]
    return f"sudo apt-get install -y libnvidia-compute-{branch[0]} nvidia-utils-{branch[0]}" if branch else None
