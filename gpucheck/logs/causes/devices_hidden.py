"""What of a log is devices-hidden."""

import re

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Event, Log
from gpucheck.rules._log import cite, stated
from gpucheck.rules._start import HIDES_ALL, NO_DEVICE, ending, starts, unserved

_INVALID_DEVICE = "101"


_UNSET = "unset CUDA_VISIBLE_DEVICES"


def _not_the_first(device: str) -> bool:
    """Whether TensorFlow's name of a device, like '/device:GPU:2', is not GPU 0's: that one a program asks for on any machine."""
    return re.search(r"(?i)gpu:[1-9]", device) is not None


def _passed_over(log: Log, event: Event) -> bool:
    """Whether a context was refused on a GPU that TensorFlow saw and called too old: gpu-too-old."""
    old = any(other.kind == "gpu-ignored" and other.fields.get("reason") == "capability" for other in log.events)
    return old and "PrimaryCtxRetain" in event.text


def in_log(log: Log) -> Finding | None:
    """A variable that hides all, a GPU asked for by a number that is not offered, or a driver that works and offers none."""
    named = [event for event in log.events if event.kind == "devices-hidden"]
    none = starts(log, NO_DEVICE)
    idle = unserved(log, "cpu-fallback") + [event for event in unserved(log, "gpus-listed") if event.fields.get("count") == "0"]
    values = [event for event in named if event.fields.get("value", "") in HIDES_ALL] if none or idle else []
    values += [event for event in named if none and event not in values]
    beyond = [event for event in starts(log, _INVALID_DEVICE) if event.kind == "cuda-error" and not _passed_over(log, event)]
    beyond += [event for event in log.events if event.kind == "placement-failed" and _not_the_first(event.fields["device"])]
    end = ending(log)
    wanted = True
    if values:
        value = values[0].fields.get("value", "")
        wanted = value not in HIDES_ALL or (end is not None and end.wanted)
        shown = f"CUDA_VISIBLE_DEVICES={value}" if value else "CUDA_VISIBLE_DEVICES, set to nothing,"
        summary, told = f"{shown} hides every GPU from CUDA.", [*none[:1], *values]
    elif end is not None and end.code == "devices-hidden":
        if end.kernel:
            summary = (
                f"The NVIDIA driver {end.kernel} works, and offers this process no GPU: they are hidden from it (CUDA error 100)."
            )
        else:
            summary = (
                "CUDA's driver library answers, and offers this process no GPU: they are hidden from it, or were not given to it."
            )
        told, wanted = end.events, end.wanted or not end.casual
    elif said := stated(log, "devices-hidden"):
        summary, told, wanted = "CUDA_VISIBLE_DEVICES hides the GPUs from this process.", said, False
    elif beyond:
        summary, told = "The program asks for a GPU by a number that this process is not offered.", beyond
    else:
        return None
    return Finding(
        summary=summary,
        evidence=cite(*told),
        fix=(
            Fix(text="See what hides them, and which GPUs there are", command="env | grep VISIBLE_DEVICES; nvidia-smi -L"),
            Fix(text="Let CUDA see every GPU (look in ~/.bashrc, the job script and the program, too)", command=_UNSET),
            Fix(text="Slurm: ask for a GPU when starting the job", command="srun --gres=gpu:1 nvidia-smi -L"),
            Fix(
                text="In a container: start it with --gpus all, and see that /dev/nvidia0 is in it", command="ls -l /dev/nvidia*"
            ),
        ),
        severity=None if wanted else Severity.WARNING,
    )
