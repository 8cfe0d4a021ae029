"""What of a log is container-without-gpu."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, stated
from gpucheck.rules._log import told as still
from gpucheck.rules._start import CPU_IS_ENOUGH, NO_LIBRARY, UNKNOWN, cut_off, ending, starts, unserved
from gpucheck.rules._words import short
from gpucheck.rules.gpu_not_detected.container_without_gpu import _START, _TOOLKIT

_REFUSALS = {
    "hook": "the NVIDIA Container Toolkit could not prepare it",
    "runtime": "this container runtime does not know how to pass one in",
    "not-passed": "it was started without one",
    "scheduler": "the cluster has none to give",
    "no-files": "the machine that it runs on has no NVIDIA driver",
}


_RESTART = Fix(
    text="Restart the container; a systemctl daemon-reload on its machine takes the GPUs away from running ones",
    command="docker restart CONTAINER",
)


_CDI = Fix(text="Against a repetition, pass the GPUs with CDI: --device nvidia.com/gpu=all instead of --gpus all")


_MISSED = (
    "cuinit-failed",
    "driver-absent",
    "placement-failed",
    "library-missing",
    "nvml-failed",
)  # what a job says without its GPU


_SCHEDULER = (
    Fix(text="See which nodes have free GPUs", command="kubectl describe nodes | grep -A 8 -E 'Allocated|nvidia.com/gpu'"),
    Fix(text="See whether the device plugin runs on the GPU nodes", command="kubectl get pods -A -o wide | grep -i nvidia"),
)


def in_log(log: Log) -> Finding | None:
    """The runtime's or the scheduler's refusal, else what follows from the log as a whole."""
    of_host = {event.line for event in starts(log, UNKNOWN)}  # the toolkit asks the host's CUDA: it is that which does not start
    told = [event for event in unserved(log, "container-gpu-denied") if event.fields.get("reason") in _REFUSALS]
    told = [event for event in told if event.line not in of_host]
    if not still(log, "container-gpu-denied"):  # a job that waited for a GPU, and got one
        told = [event for event in told if event.fields["reason"] != "scheduler"]
    end = ending(log)
    wanted = True
    if told:
        reason = told[0].fields["reason"]
        wanted = reason != "no-files" or bool(unserved(log, *_MISSED))
        message = told[0].fields.get("message", "")
        summary = f"A container got no GPU: {_REFUSALS[reason]}{f' ({short(message)})' if message else ''}."
        fixes: tuple[Fix, ...] = _SCHEDULER if reason == "scheduler" else (_START["docker"], _TOOLKIT)
    elif lost := cut_off(log):
        told = lost
        summary = "A container has no GPU, or has lost it, though the machine that runs it may use its own: no device answers inside it."
        fixes = (_RESTART, _START["docker"], _CDI)
    elif said := stated(log, "container-without-gpu"):
        told, wanted, summary = said, False, "The container was given no GPU."
        fixes = (_START["docker"], _TOOLKIT, _START["kubernetes"])
    elif end is not None and end.code == "container-without-gpu":
        told, wanted = end.events, end.wanted or end.result != NO_LIBRARY
        host = f" ({end.host})" if end.host else ""
        summary = f"This container{host} was given no GPU: no driver answers inside it."
        fixes = (_START["docker"], _TOOLKIT, _START["kubernetes"])
    else:
        return None
    check_host = Fix(text="See whether the machine itself can use its GPU, outside of the container", command="nvidia-smi")
    return Finding(
        summary=summary,
        evidence=cite(*told),
        fix=(*fixes, check_host) if wanted else (*fixes, check_host, CPU_IS_ENOUGH),
        severity=None if wanted else Severity.WARNING,
    )
