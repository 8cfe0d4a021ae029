"""What of a log is fabric-manager-down."""

from gpucheck.compat import versions
from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, field, stated, weight
from gpucheck.rules._start import nvml, starts, unserved
from gpucheck.rules.gpu_not_detected.fabric_manager_down import _NOT_READY, _NVML_NOT_READY


def in_log(log: Log) -> Finding | None:
    """CUDA's or NVML's word for it, or the service's own."""
    told = [*unserved(log, "fabric-not-ready"), *starts(log, *map(str, _NOT_READY)), *nvml(log, str(_NVML_NOT_READY))]
    told = told or stated(log, "fabric-manager-down")
    if not told:
        return None
    told = sorted({event.line: event for event in told}.values(), key=lambda event: event.line)
    version = field(unserved(log, "driver-version"), "kernel")
    branch = versions.parse(version or "")[:1]
    return Finding(
        summary="The NVSwitch fabric that joins the GPUs is not ready: the fabric manager is not running, or not of the"
        f" driver's version{f' {version}' if version else ''}.",
        evidence=cite(*told),
        fix=(
            Fix(text="Start it, and at every start of the machine", command="sudo systemctl enable --now nvidia-fabricmanager"),
            Fix(text="Read why it stopped", command="sudo journalctl -u nvidia-fabricmanager -n 50"),
            Fix(
                text="If it is absent or of another version than the driver, install the one of the driver's branch",
                command=f"sudo apt-get install -y nvidia-fabricmanager-{branch[0]}" if branch else None,
            ),
        ),
        severity=weight(told),
    )
