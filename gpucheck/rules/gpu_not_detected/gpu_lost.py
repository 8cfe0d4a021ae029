"""A GPU of this machine no longer answers, or could not be started by its driver.

Symptom:
    NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.
    Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost. Reboot the system to recover this GPU
    GPU requires reset
    NVRM: GPU 0000:3b:00.0: RmInitAdapter failed!
    NVRM: Xid (PCI:0000:3b:00): 119, Timeout waiting for RPC from GSP!
    ERR! instead of values in nvidia-smi
Cause:
    The card lost its connection or its firmware hangs: heat, a power cable or supply that fails, a bad slot or riser, a fault
    of the board, or an uncorrectable memory error that waits for a reset.
Fix:
    1. Read what the kernel says about it
       $ sudo dmesg | grep -i -E "nvrm|xid" | tail
    2. If a reset is asked for, with every program on that GPU ended
       $ sudo nvidia-smi --gpu-reset -i 0
    3. If the GPU is lost: switch the machine off and on again; a warm restart is often not enough
    4. If it comes back: check power, seating and temperature, and have the board replaced
Verify:
    nvidia-smi lists as many GPUs as lspci -d 10de: does, without ERR!.
Unless:
    The kernel's log tells of an Xid, and the GPU was reset since: it answers again, and gpucheck only warns until the machine is
    restarted. Otherwise keep jobs off this GPU until it is repaired.
Example:
    gpus.gpus = [{"index": 0, "problem": "GPU is lost", "result": 15, "pci_address": "0000:00:06.0"}]
    cuda = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> GPU 0 at 0000:00:06.0 no longer answers its driver: GPU is lost.
References:
    https://docs.nvidia.com/deploy/xid-errors/
"""

from typing import NamedTuple

from gpucheck.compat.xid import Xid
from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Fix, Scope, Severity, saw
from gpucheck.probes.container import Container
from gpucheck.probes.device_nodes import DeviceNodes
from gpucheck.probes.driver import Driver
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.kernel_log import KernelLog
from gpucheck.probes.log import Log
from gpucheck.probes.pci import Pci
from gpucheck.probes.wsl import Wsl
from gpucheck.rules._driver import WITHOUT_CUDA
from gpucheck.rules._words import listing
from gpucheck.rules._xid import Reported, advice, affected, cited, decoded, reported

_RESET_REQUIRED = 16
_LOST = (8, 10, 11, 15, _RESET_REQUIRED)  # power cables, timeout, interrupts, lost, reset required
_UNKNOWN = 999  # of a GPU's handle, not of one query: the other way in which NVML says "lost"
_NOT_FOUND = 28


class _Lost(NamedTuple):
    label: str  # "GPU 3 at 0000:3b:00.0", or what else is known of it
    reason: str
    evidence: tuple[Evidence, ...]
    affects: str | None = None


@rule(
    severity=Severity.ERROR,
    scope=Scope.HARDWARE,
    explains=(
        *WITHOUT_CUDA,
        "driver-unresponsive",
        "driver-not-loaded",
        "no-nvidia-gpu",
        "container-without-gpu",
        "nvlink-down",
        "nccl-failed",
        "training-crashed",
        "replica-count-mismatch",
    ),
)
def check(
    wsl: Wsl,
    container: Container,
    pci: Pci,
    device_nodes: DeviceNodes,
    driver: Driver,
    gpus: Gpus | None,
    kernel_log: KernelLog | None,
    log: Log | None,
) -> Finding | None:
    """NVML's word for a GPU, a device file that answers EIO, a GPU that its driver holds and does not list, or an Xid."""
    reports = reported(kernel_log, "gpu-lost", gpus, pci, container)
    silent = [report for report in reports if not report.answers]
    lost = _unanswering(wsl, gpus)
    lost += _input_output_errors(device_nodes) or _unlisted(wsl, container, pci, device_nodes, driver, gpus)
    lost += [_Lost(one.label, one.words, one.evidence, next(iter(affected([one])), None)) for one in silent]
    lost += _logged(log)
    reset = [gpu.index for gpu in (gpus.gpus if gpus is not None else ()) if gpu.result == _RESET_REQUIRED]
    if not lost and driver.result in _LOST:
        problem = driver.problem or driver.result_name or f"NVML error {driver.result}"
        lost = [_Lost("A GPU of this machine", problem, saw(driver, "result", "problem"))]
    if not lost:
        return _answering_again(reports) if reports else None
    known = [*(one.known for one in silent), *_codes(log)]
    labels = list(dict.fromkeys(item.label for item in lost))
    reasons = listing(list(dict.fromkeys(item.reason for item in lost)))
    verb = "no longer answers its driver" if len(labels) == 1 else "no longer answer their driver"
    return Finding(
        summary=f"{listing(labels)} {verb}: {reasons}.",
        evidence=tuple(item for each in lost for item in each.evidence),
        fix=(*advice(known), *_fixes(reset, driver.result == _RESET_REQUIRED)),
        affects=tuple(dict.fromkeys(item.affects for item in lost if item.affects)),
    )


def _answering_again(reports: list[Reported]) -> Finding:
    """They answer, and the log can't tell whether a reset came between: no reason to stop, one to look."""
    first, *others = reports
    more = f", and {len(others)} more such messages" if others else ""
    return Finding(
        summary=f"{first.label} answers now, but since its driver was loaded the kernel reported of it: {first.words}{more}.",
        evidence=cited(reports),
        fix=(
            *advice(one.known for one in reports),
            Fix(text="If the GPU was reset since, ignore it; restarting the machine clears the log"),
        ),
        affects=affected(reports),
        severity=Severity.WARNING,
    )


def _unanswering(wsl: Wsl, gpus: Gpus | None) -> list[_Lost]:
    fatal = _LOST if wsl.inside else (*_LOST, _UNKNOWN)
    return [
        _Lost(
            f"GPU {gpu.index}" + (f" at {gpu.pci_address}" if gpu.pci_address else ""),
            gpu.problem or f"NVML error {gpu.result}",
            saw(gpus, f"gpus[{place}].problem", f"gpus[{place}].result"),
            f"GPU {gpu.index}",
        )
        for place, gpu in enumerate(gpus.gpus if gpus is not None else ())
        if gpus is not None and gpu.result in fatal
    ]


def _input_output_errors(device_nodes: DeviceNodes) -> list[_Lost]:
    """What the driver answers to whoever opens a GPU that it could not start."""
    return [
        _Lost(
            f"The GPU behind {node.path}",
            "opening it gives an input/output error (EIO)",
            saw(device_nodes, f"gpus[{place}].path", f"gpus[{place}].error"),
        )
        for place, node in enumerate(device_nodes.gpus)
        if node.error == "EIO"
    ]


def _unlisted(
    wsl: Wsl, container: Container, pci: Pci, device_nodes: DeviceNodes, driver: Driver, gpus: Gpus | None
) -> list[_Lost]:
    """GPUs that the nvidia driver holds and NVML leaves out, where this process is kept from none on purpose."""
    if wsl.inside or container.inside or gpus is None or not (driver.status == "ok" or driver.result == _NOT_FOUND):
        return []
    listed = {gpu.pci_address for gpu in gpus.gpus}
    if None in listed or not device_nodes.gpus or not all(node.openable for node in device_nodes.gpus):
        return []
    return [
        _Lost(
            f"The GPU at {function.address}",
            "the nvidia driver holds it and does not list it",
            (*saw(pci, f"gpus[{place}].address", f"gpus[{place}].kernel_driver"), *saw(driver, "status", "gpu_count")),
        )
        for place, function in enumerate(pci.gpus)
        if function.kernel_driver == "nvidia" and function.address not in listed
    ]


def _logged(log: Log | None) -> list[_Lost]:
    lost = []
    for index, event in enumerate(log.events if log is not None else ()):
        known = decoded(event, "gpu-lost")
        if log is not None and known is not None:
            device = event.fields.get("device")
            label = f"The GPU at {device}" if device else "A GPU of this machine"
            lost.append(_Lost(label, f"{known.meaning} (Xid {known.code})", saw(log, f"events[{index}].text")))
    return lost


def _codes(log: Log | None) -> list[Xid]:
    return [known for event in (log.events if log is not None else ()) if (known := decoded(event, "gpu-lost")) is not None]


def _fixes(reset: list[int], any_gpu: bool) -> tuple[Fix, ...]:
    read = Fix(text="Read what the kernel says about it", command='sudo dmesg | grep -i -E "nvrm|xid" | tail')
    cold = Fix(text="Switch the machine off and on again; if it comes back, check power and seating, and replace the board")
    if not reset and not any_gpu:
        return (read, cold)
    which = f" -i {','.join(str(index) for index in reset)}" if reset else ""
    command = f"sudo nvidia-smi --gpu-reset{which}"
    return (Fix(text="Reset the GPU, with every program on it ended", command=command), read, cold)
