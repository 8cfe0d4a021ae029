"""The child that samples NVML while another one trains or measures: started, and what it has said so far."""

from typing import Any

from gpucheck.host import Child, Host

START_SECONDS = 15.0  # for NVML to come up once more: it has answered in this run already


def start(host: Host) -> Child:
    """A sampler at work. It ends when it is told anything, or with the run.

    Raises:
        RuntimeError: NVML can't be asked, or does not answer.
    """
    sampler = host.child("sampler", host.library_folder("pynvml") or "", limit=host.remaining())
    started = sampler.until("start", within=START_SECONDS)
    if started is None or started["problem"]:
        raise RuntimeError(f"NVML: {(started or {}).get('problem') or 'no answer'}")
    return sampler


def samples(sampler: Child) -> list[dict[str, Any]]:
    """Every moment until now, as ``gpucheck/child/sampler.py`` tells it."""
    return [value for stage, value in sampler.stages().items() if stage.startswith("sample ")]
