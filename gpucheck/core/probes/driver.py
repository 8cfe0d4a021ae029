"""The driver's management library (NVML), loaded and initialized in a child."""

from msgspec.structs import asdict

from gpucheck.core.child.messages.drivers import DriverStarted, NvmlSystem, NvmlTask
from gpucheck.core.host import Child, Host
from gpucheck.core.model import Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes._driver_query import DriverAnswer, DriverQuery, cuda_version, longest_silence, query_driver

NVIDIA_SMI_SECONDS = 5.0
NVIDIA_SMI_CHARACTERS = 500
RESERVE_SECONDS = 1.5  # how much longer an nvidia-smi that can't be killed may take
WSL_NVIDIA_SMI = "/usr/lib/wsl/lib/nvidia-smi"

ACTIVITIES = {
    "load": "while libnvidia-ml.so.1 was opened",
    "init": "in nvmlInit",
    "system": "while NVML was queried for the driver's version and the number of GPUs",
    "gpu": "while NVML was queried about GPU {job}",
    "shutdown": "in nvmlShutdown, after all queries",
}


class Driver(DriverAnswer, frozen=True, kw_only=True):
    """The driver, as NVML reports it.

    ``status``: "ok" (initialized), "library-not-found", "library-unusable" (found, but dlopen failed), "failed" (an NVML
    error code), "crashed" (the child died) or "hung" (the child timed out after a sufficient time).
    """

    version: str | None = None  # driver version, "580.159.04"
    nvml_version: str | None = None
    cuda_version: str | None = None  # newest CUDA the driver supports: "13.0"
    gpu_count: int | None = None
    nvidia_smi: str | None = None  # nvidia-smi's output, only if NVML failed or crashed; its exit code is ignored


@probe(level=Level.NODE)
def read(host: Host) -> Driver:
    """Run the NVML child, and nvidia-smi if NVML failed."""
    query = query_nvml(host)
    system = query.child.message(NvmlSystem) or NvmlSystem()
    return Driver(
        **asdict(query.answer),
        version=system.version,
        nvml_version=system.nvml_version,
        cuda_version=cuda_version(system.cuda_version),
        gpu_count=system.gpu_count,
        nvidia_smi=None if query.answer.status in ("ok", "hung") else _nvidia_smi(host),  # it would hang, too
    )


def query_nvml(host: Host) -> DriverQuery:
    """Run the NVML child, which the gpus probe shares. Raises RuntimeError like ``query_driver``."""
    return query_driver(_child(host), ACTIVITIES, (DriverStarted, NvmlSystem), longest_silence(host))


def seconds_of_nvml(host: Host) -> float:
    """Wait until NVML has answered or hangs; return the seconds until its last answer."""
    return _child(host).end(longest_silence(host)).seconds


def _child(host: Host) -> Child:
    return host.child(NvmlTask(host.library_folder("pynvml") or ""), limit=host.remaining())


def _nvidia_smi(host: Host) -> str | None:
    """Return the first lines of nvidia-smi's output; None if it is not installed, or no time is left to run it."""
    program = host.which("nvidia-smi") or (WSL_NVIDIA_SMI if host.stat(WSL_NVIDIA_SMI) is not None else None)
    limit = min(NVIDIA_SMI_SECONDS, host.remaining() - RESERVE_SECONDS)
    if program is None or limit <= 0:
        return None
    answer = host.run([program], timeout=limit)
    lines = [line.rstrip() for line in (answer.stdout + answer.stderr).splitlines() if line.strip()]
    if answer.ending != "exited":
        lines.append(f"({answer.ending})")
    elif not lines:
        lines.append(f"(exited with status {answer.returncode}, no output)")
    return "\n".join(lines)[:NVIDIA_SMI_CHARACTERS]
