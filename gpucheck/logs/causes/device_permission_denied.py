"""What of a log is device-permission-denied."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules._start import cut_off, nvml, unserved, xids
from gpucheck.rules._words import listing, short
from gpucheck.rules.gpu_not_detected.device_permission_denied import _NVML_REFUSED

_NVML_UNKNOWN = "999"


def in_log(log: Log) -> Finding | None:
    """A refused device file, or NVML's word for it: "Unknown Error" at its start means a container that lost its devices."""
    told = [*unserved(log, "device-denied"), *(nvml(log, *map(str, _NVML_REFUSED)) if not unserved(log, "wsl") else ())]
    if not xids(log, "gpu-lost"):
        lost = cut_off(log)  # container-without-gpu
        told += [event for event in nvml(log, _NVML_UNKNOWN) if not event.fields.get("device") and event not in lost]
    if not told:
        return None
    told.sort(key=lambda event: event.line)
    paths = list(dict.fromkeys(path for event in told if (path := event.fields.get("path"))))
    if paths:
        summary = f"This process may not open {listing(paths)}: the file's mode or the control group forbids it."
    else:
        message = told[0].fields.get("message") or told[0].fields.get("name", "")
        summary = f"The system does not let this process use the NVIDIA driver: NVML answers {short(message)}."
    return Finding(
        summary=summary,
        evidence=cite(*told),
        fix=(
            Fix(
                text="In a container: restart it; a systemctl daemon-reload on its machine takes the GPUs away from running ones"
            ),
            Fix(text="Against a repetition, pass the GPUs with CDI: --device nvidia.com/gpu=all instead of --gpus all"),
            Fix(text="Rootless Podman: add --security-opt=label=disable --group-add keep-groups"),
            Fix(text="Outside: see who may open the files, and join that group", command="ls -l /dev/nvidia*; id"),
        ),
    )
