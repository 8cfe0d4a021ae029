"""What of a log is driver-unresponsive."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, field
from gpucheck.rules._start import READ_KERNEL_LOG, unserved


def in_log(log: Log) -> Finding | None:
    """The kernel, or whoever waited, tells of a call that did not come back."""
    told = unserved(log, "driver-hung")
    if not told:
        return None
    process = field(told, "process")
    return Finding(
        summary=f"The NVIDIA driver does not answer: {process or 'a program'} hung in it.",
        evidence=cite(*told),
        fix=(READ_KERNEL_LOG, Fix(text="Restart the machine; if it comes back, take this GPU out of service")),
    )
