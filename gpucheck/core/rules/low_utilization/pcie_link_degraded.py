"""A GPU is connected with fewer PCIe lanes, or at a lower speed, than the card and the slot support.

Symptom:
    pcie.link.width.current, pcie.link.width.max
      8, 16
    - Copies to the GPU take long, and the GPU waits for data.
Cause:
    A badly seated card or riser, a dirty or damaged contact, a slot that shares its lanes with another card, or a firmware
    setting. The link is then established with fewer lanes.
Verify:
    While a job trains, this command prints the highest generation and width that the card and the slot support:
    $ nvidia-smi --query-gpu=pcie.link.gen.current,pcie.link.width.current --format=csv
Unless:
    The slot has fewer lanes on purpose, or the generation is low while the GPU idles: it rises under load.
Example:
    gpus.gpus[0].pcie_width = 4
    -> GPU 0 (NVIDIA H200) is connected with 4 of 16 PCIe lanes.
References:
    https://docs.nvidia.com/deploy/nvidia-smi/index.html
"""

from gpucheck.core.model import Action, Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import REPLACE_MACHINE

GPU_IDLE = 0x1
BUSY_PERCENT = 50
_FIELDS = ("pcie_width", "pcie_width_max", "pcie_generation", "pcie_generation_max")


@rule(
    severity=Severity.WARNING,
    scope=Scope.HARDWARE,
    explains=("scaling-inefficient",),
    first_check="the link's width: nvidia-smi -q",
)
def check(gpus: Gpus, context: Context) -> Finding | Skip | None:
    """Report fewer lanes than possible, or a lower generation on a busy GPU (idle GPUs reduce it)."""
    reporting = [(place, gpu) for place, gpu in enumerate(gpus.gpus) if gpu.pcie_width and gpu.pcie_width_max]
    degraded = [(place, gpu, link) for place, gpu in reporting if (link := _degraded(gpu))]
    if not degraded:
        return None if reporting or not gpus.gpus else Skip("the GPUs do not report their PCIe link")
    _, worst, link = degraded[0]
    more = f"; {len(degraded)} of {len(gpus.gpus)} GPUs are affected" if len(degraded) > 1 else ""
    return Finding(
        action=Action.IGNORE,
        summary=f"{worst.title} is connected {link}{more}.",
        evidence=saw(gpus, *(f"gpus[{place}].{field}" for place, _, _ in degraded for field in _FIELDS)),
        fix=repairs(context, device=worst.pci_address or ""),
        affects=tuple(gpu.label for _, gpu, _ in degraded),
    )


def _degraded(gpu: Gpu) -> str | None:
    if gpu.pcie_width and gpu.pcie_width_max and gpu.pcie_width < gpu.pcie_width_max:
        return f"with {gpu.pcie_width} of {gpu.pcie_width_max} PCIe lanes"
    busy = (gpu.utilization_percent or 0) >= BUSY_PERCENT and not (gpu.clock_event_reasons or 0) & GPU_IDLE
    if busy and gpu.pcie_generation and gpu.pcie_generation_max and gpu.pcie_generation < gpu.pcie_generation_max:
        return f"at PCIe generation {gpu.pcie_generation} instead of {gpu.pcie_generation_max} under load"
    return None


def repairs(context: Context, *, device: str = "") -> Fixes:
    """Reseat the card.

    Args:
        context: what is known about the machine.
        device: its address on the bus: "0000:0b:00.0".
    """
    card = f"the card{f' at {device}' if device else ''}"
    yield Fix(text=f"Power the machine off, reseat {card} and its riser, or try another slot")
    yield REPLACE_MACHINE
    yield Fix.look(
        "Compare what the card and the slot support (LnkCap) with the current link (LnkSta)",
        f"sudo lspci -vv {f'-s {device}' if device else '-d 10de:'} | grep -E 'LnkCap:|LnkSta:'",
    )
