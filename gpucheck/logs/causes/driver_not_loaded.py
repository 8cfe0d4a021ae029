"""What of a log is driver-not-loaded."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, field, stated, weight
from gpucheck.rules._start import NVML_NO_GPU, READ_KERNEL_LOG, ending, module_failures, nvml, unserved

_REASONS = {
    "signature": "the kernel refuses its module, because it is not signed (Secure Boot)",
    "not-built": "its kernel module was not built for the running kernel",
    "nouveau": "the nouveau driver holds the GPU, and cannot run CUDA",
    "no-device": "its kernel module found no GPU that it could take",
}


def in_log(log: Log) -> Finding | None:
    """The module's or NVML's own word, else what follows from the log as a whole."""
    failed = module_failures(log)
    foreign = unserved(log, "gpu-unsupported-by-driver")
    silent = [] if unserved(log, "wsl") else nvml(log, "9")
    handles = [event for event in nvml(log, "999") if event.fields.get("device")]
    handles = handles if nvml(log, NVML_NO_GPU) else []  # each of them: where only some fail, they are lost
    end = ending(log)
    told = [*failed, *foreign, *silent, *handles] or (end.events if end is not None and end.code == "driver-not-loaded" else [])
    told = told or stated(log, "driver-not-loaded")
    if not told:
        return None
    reason = _REASONS.get(field(failed, "reason") or "")
    opened = field(foreign, "reason") == "open-module"
    open_modules = (
        Fix(
            text="Install the driver with its open kernel modules (Ubuntu's packages for that end in -open), then restart the "
            "machine: GPUs from Blackwell on, and Grace Hopper, work with no others",
            command="sudo ubuntu-drivers list --gpgpu",
        ),
    )
    if opened:
        summary = "The NVIDIA driver is loaded with its proprietary kernel module, and this GPU needs the open one."
    elif foreign:
        version = field(foreign, "driver")
        summary = f"The NVIDIA driver{f' {version}' if version else ''} is loaded, and does not support this GPU."
    elif reason is not None:
        summary = f"The NVIDIA driver is not loaded: {reason}."
    elif handles and not (failed or silent):
        summary = "The NVIDIA driver is not loaded as it should be: it could not start any GPU."
    else:
        summary = "The NVIDIA driver is installed, but its kernel module is not loaded."
    return Finding(
        summary=summary,
        evidence=cite(*told),
        fix=(
            *(open_modules if opened else ()),
            Fix(text="Load it, and read what the kernel answers", command=f"sudo modprobe nvidia; {READ_KERNEL_LOG.command}"),
            Fix(
                text="After a kernel update: build the module for the running kernel (Fedora and RHEL: dnf install kernel-devel)",
                command="sudo apt-get install -y linux-headers-$(uname -r) && sudo dkms autoinstall && sudo modprobe nvidia",
            ),
            Fix(
                text="If the key was rejected: enrol it, or switch Secure Boot off in the firmware", command="mokutil --sb-state"
            ),
            Fix(text="For a GPU before Turing: install driver branch 580 in its proprietary form, not the open one"),
        ),
        severity=weight(told),
    )
