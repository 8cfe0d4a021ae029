"""Start the child that samples NVML while another one trains or measures, and read its samples."""

from gpucheck.core.child.messages.drivers import NvmlTask, Sampled, SamplerStarted, SamplerTask
from gpucheck.core.host import Child, Host

START_SECONDS = 15.0  # for NVML to start again; twice as long as its queries took in this run, if that is longer


def start(host: Host, interval_seconds: float = 0.2) -> Child:
    """Start a sampler. It ends with ``StopSampling``, or with the run.

    Args:
        host: the machine.
        interval_seconds: between two samples.

    Raises:
        RuntimeError: NVML can't be queried, or does not respond.
    """
    sampler = host.child(SamplerTask(host.library_folder("pynvml") or "", interval_seconds), limit=host.remaining())
    before = max((child.end().seconds for _, child in host.children(NvmlTask)), default=0.0)
    started = sampler.wait_for(SamplerStarted, within=max(START_SECONDS, 2 * before))
    if started is None or started.problem:
        raise RuntimeError(f"NVML: {'no answer' if started is None else started.problem}")
    return sampler


def samples(sampler: Child) -> list[Sampled]:
    """Return every sample so far."""
    return list(sampler.messages(Sampled).values())
