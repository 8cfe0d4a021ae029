"""What of a log is mig-misconfigured."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules._start import ending, unserved
from gpucheck.rules._words import short


def in_log(log: Log) -> Finding | None:
    """The words of nvidia-smi, the device plugin or the container toolkit about instances that are not there."""
    told = unserved(log, "mig-failed")
    if not told:
        return _without_part(log)
    return Finding(
        summary=f"MIG is on without an instance that could be used: {short(told[0].fields.get('message', told[0].text))}.",
        evidence=cite(*told),
        fix=(
            Fix(text="See the mode and the instances", command="nvidia-smi -L; sudo nvidia-smi mig -lgi"),
            Fix(text="To use the GPUs whole, leave MIG mode", command="sudo nvidia-smi -mig 0"),
            Fix(text="Or make an instance on GPU 0; profile 0 is the largest", command="sudo nvidia-smi mig -i 0 -cgi 0 -C"),
        ),
    )


def _without_part(log: Log) -> Finding | None:
    """A GPU that is shown to be in MIG mode, and CUDA that has no device, where no variable hides one."""
    end, shown = ending(log), unserved(log, "mig-shown")
    if end is None or end.code != "devices-hidden" or not shown or unserved(log, "devices-hidden"):
        return None
    return Finding(
        summary="The GPU is in MIG mode, and CUDA gets none of its instances.",
        evidence=cite(shown[0], *end.events),
        fix=(
            Fix(text="See the instances, if there are any", command="nvidia-smi -L; sudo nvidia-smi mig -lgi"),
            Fix(
                text="Name one that is there, by its UUID; a program can use a single one",
                command="export CUDA_VISIBLE_DEVICES=MIG-<UUID>",
            ),
            Fix(text="In a container: pass that one in, with docker run --gpus device=MIG-<UUID>"),
            Fix(
                text="If there is none, make one on GPU 0; profile 0 is the largest", command="sudo nvidia-smi mig -i 0 -cgi 0 -C"
            ),
        ),
        severity=None if end.wanted or not end.casual else Severity.WARNING,
    )
