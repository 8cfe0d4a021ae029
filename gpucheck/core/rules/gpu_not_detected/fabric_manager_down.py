"""The NVSwitch fabric between the GPUs is not ready, because no fabric manager with the driver's version is running.

Symptom:
    failed call to cuInit: CUDA_ERROR_SYSTEM_NOT_READY: system not yet initialized
    CUDA_ERROR_FABRIC_NOT_READY
    Error 802: system not yet initialized
    Fabric
      State : In Progress
    - nvidia-smi works and shows every GPU
Cause:
    On HGX and DGX machines NVSwitches connect the GPUs, and CUDA waits until the fabric manager has configured them. This service
    has its own package, must have exactly the driver's version, and must run before the first CUDA program.
Verify:
    nvidia-smi -q -i 0 | grep -A 3 Fabric prints State: Completed and Status: Success.
Unless:
    The machine has just been started: the fabric can take a few minutes.
Example:
    pci.nvswitches = [{"address": "0000:07:00.0", "vendor_id": "0x10de", "device_id": "0x22a3", "class_code": "0x068000"}]
    gpus.gpus[0].fabric_state = "in-progress"
    cuda = {"status": "failed", "result": 802, "result_name": "CUDA_ERROR_SYSTEM_NOT_READY", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> The NVSwitch fabric that connects the GPUs is not ready (CUDA error 802): the fabric manager is not running, or does not match the driver's version 580.159.04.
References:
    https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/
"""

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import versions
from gpucheck.core.compat.cuda import results_of
from gpucheck.core.compat.nvml import FABRIC_NOT_READY
from gpucheck.core.model import Action, Evidence, Finding, Fix, Fixes, Scope, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_WAITING = ("not-started", "in-progress")
_RHEL = "sudo dnf install -y nvidia-fabric-manager"


@rule(
    scope=Scope.HOST,
    explains=(*WITHOUT_CUDA, "nccl-failed", "container-without-gpu", "nvlink-down", "peer-access-unavailable"),
)
def check(stack: CudaStack, pci: Pci, gpus: Gpus | None, outcomes: TrainingOutcomes, context: Context) -> Finding | None:
    """Report CUDA's error, NVML's if the bus shows NVSwitches, or GPUs that CUDA can use but that are not in the fabric."""
    driver, cuda = stack.driver, stack.cuda
    waiting = _waiting(gpus)
    logged = outcomes.saw_events("fabric-not-ready")
    if stack.counts_gpus:
        if gpus is None or not waiting or not (pci.nvswitches or _fabric_is_up(gpus)):
            return None
        source = f"{listing([gpu.label for _, gpu in waiting])}: {waiting[0][1].fabric_state}"
        return _finding(source, (), stack, pci, gpus, context)
    if cuda.result in results_of("fabric-manager-down"):
        source, evidence = f"CUDA error {cuda.result}", saw(cuda, "result", "result_name")
    elif driver.result == FABRIC_NOT_READY and pci.nvswitches:
        source, evidence = "NVML error 27", saw(driver, "result", "result_name")
    elif logged:
        source, evidence = "from the log", logged
    else:
        return None
    return _finding(source, evidence, stack, pci, gpus, context)


def _finding(
    source: str, evidence: tuple[Evidence, ...], stack: CudaStack, pci: Pci, gpus: Gpus | None, context: Context
) -> Finding:
    version = f"'s version {stack.driver.version}" if stack.driver.version else "'s version"
    waiting = _waiting(gpus)
    some = gpus is not None and 0 < len(waiting) < len(gpus.gpus) and _fabric_is_up(gpus)
    why = "not every GPU has joined it" if some else f"the fabric manager is not running, or does not match the driver{version}"
    states = saw(gpus, *(f"gpus[{place}].fabric_state" for place, _ in waiting))
    return Finding(
        summary=f"The NVSwitch fabric that connects the GPUs is not ready ({source}): {why}.",
        evidence=(*evidence, *saw(pci, "nvswitches"), *states),
        fix=repairs(context),
        action=Action.DRAIN,
        affects=tuple(gpu.label for _, gpu in waiting) if some else (),
    )


def _waiting(gpus: Gpus | None) -> list[tuple[int, Gpu]]:
    """Return the GPUs that have not joined their fabric."""
    return [(place, gpu) for place, gpu in enumerate(gpus.gpus if gpus is not None else ()) if gpu.fabric_state in _WAITING]


def _fabric_is_up(gpus: Gpus) -> bool:
    return any(gpu.fabric_state == "completed" for gpu in gpus.gpus)


def repairs(context: Context, *, version: str = "", driver: str = "") -> Fixes:
    """Start the fabric manager that has the driver's version.

    Args:
        context: what is known about the machine.
        version: the driver's version, from a log: "580.159.04".
        driver: the same, from other messages.
    """
    known = version or driver or (context.driver.version if context.driver is not None else "") or ""
    branch = versions.parse(known)[:1]
    yield Fix(text="Start the fabric manager, now and at every boot", command="sudo systemctl enable --now nvidia-fabricmanager")
    text = (
        f"If it is missing or does not start: install the one with exactly the driver's version{f' ({known})' if known else ''}"
    )
    packages = {
        "ubuntu|debian": f"sudo apt-get install -y nvidia-fabricmanager-{branch[0]}" if branch else None,
        "rhel|rocky|almalinux": _RHEL,
    }
    if context.kinds["distribution"] is None and not branch:
        yield Fix(text=text)
    else:
        for distributions, command in packages.items():
            yield from context.only(Fix(text=text, command=command), distribution=distributions)
    yield Fix.look("Check why it stopped", "sudo journalctl -u nvidia-fabricmanager -n 50")
