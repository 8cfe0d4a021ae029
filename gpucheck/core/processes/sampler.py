"""The child that samples NVML while another one trains or measures: started, and what it has said so far."""

from gpucheck.core.child.messages.nvml import Sampled, SamplerStarted, SamplerTask
from gpucheck.core.host import Child, Host

START_SECONDS = 15.0  # for NVML to come up once more: it has answered in this run already


def start(host: Host, interval_seconds: float = 0.2) -> Child:
    """A sampler that runs. It ends with ``StopSampling``, or with the run.

    Args:
        host: the machine.
        interval_seconds: between two samples.

    Raises:
        RuntimeError: NVML can't be asked, or does not answer.
    """
    sampler = host.child(SamplerTask(host.library_folder("pynvml") or "", interval_seconds), limit=host.remaining())
    started = sampler.wait_for(SamplerStarted, within=START_SECONDS)
    if started is None or started.problem:
        raise RuntimeError(f"NVML: {'no answer' if started is None else started.problem}")
    return sampler


def samples(sampler: Child) -> list[Sampled]:
    """Every moment until now."""
    return list(sampler.messages(Sampled).values())
