"""What of a log is device-nodes-missing."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules._start import ending, unserved
from gpucheck.rules._words import listing


def in_log(log: Log) -> Finding | None:
    """A program that was refused names the file."""
    end = ending(log)
    told = [event for event in unserved(log, "device-node-missing") if not event.fields["path"].endswith("dxg")]
    if not told or end is not None:
        return None
    paths = listing(list(dict.fromkeys(event.fields["path"] for event in told)))
    return Finding(
        summary=f"CUDA cannot start because a device file of the driver is missing: {paths}.",
        evidence=cite(*told),
        fix=(
            Fix(text="Make the device files now", command="sudo modprobe nvidia-uvm && sudo nvidia-modprobe -u -c=0"),
            Fix(text="Have them made at every start", command="sudo systemctl enable --now nvidia-persistenced"),
            Fix(text="In a container: start it again with all of them: --gpus all (Docker), --nv (Apptainer)"),
        ),
    )
