"""The NVSwitch fabric between the GPUs is not ready, because no fabric manager of the driver's version is running.

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
Fix:
    1. Start it now and at every boot
       $ sudo systemctl enable --now nvidia-fabricmanager
    2. If it is missing or does not match the driver's version, install the one of the driver's branch; on Ubuntu, for branch 580
       $ sudo apt-get install -y nvidia-fabricmanager-580
    3. Check why it stopped
       ? sudo journalctl -u nvidia-fabricmanager -n 50
Verify:
    nvidia-smi -q -i 0 | grep -A 3 Fabric says State: Completed and Status: Success.
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
from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Evidence, Finding, Fix, Scope, Severity, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_NOT_READY = (802, 919)
_NVML_NOT_READY = 27


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=(*WITHOUT_CUDA, "nccl-failed", "container-without-gpu"))
def check(stack: CudaStack, gpus: Gpus | None, outcomes: TrainingOutcomes) -> Finding | None:
    """Report CUDA's error, or NVML's if the bus shows NVSwitches. If CUDA lists GPUs, the fabric is ready."""
    driver, cuda = stack.driver, stack.cuda
    if stack.counts_gpus:
        return None
    logged = outcomes.saw_events(Kind.FABRIC_NOT_READY)
    if cuda.result in _NOT_READY:
        source, evidence = f"CUDA error {cuda.result}", saw(cuda, "result", "result_name")
    elif driver.result == _NVML_NOT_READY and stack.pci.nvswitches:
        source, evidence = "NVML error 27", saw(driver, "result", "result_name")
    elif logged:
        source, evidence = "from the log", logged
    else:
        return None
    version = f"'s version {driver.version}" if driver.version else "'s version"
    return Finding(
        summary=f"The NVSwitch fabric that connects the GPUs is not ready ({source}): the fabric manager is not running,"
        f" or does not match the driver{version}.",
        evidence=(*evidence, *saw(stack.pci, "nvswitches"), *_states(gpus)),
        fix=_fixes(stack),
    )


def _states(gpus: Gpus | None) -> tuple[Evidence, ...]:
    """The GPUs that wait for their fabric."""
    if gpus is None:
        return ()
    waiting = [place for place, gpu in enumerate(gpus.gpus) if gpu.fabric_state in ("not-started", "in-progress")]
    return saw(gpus, *(f"gpus[{place}].fabric_state" for place in waiting))


def _fixes(stack: CudaStack) -> tuple[Fix, ...]:
    where = stack.on_host
    branch = versions.parse(stack.driver.version or "")[:1]
    install = {
        "ubuntu": f"sudo apt-get install -y nvidia-fabricmanager-{branch[0]}" if branch else None,
        **dict.fromkeys(("rhel", "rocky", "almalinux"), "sudo dnf install -y nvidia-fabric-manager"),
    }.get(stack.system.os_id or "")
    return (
        Fix(text=f"Start the fabric manager{where}", command="sudo systemctl enable --now nvidia-fabricmanager"),
        Fix(
            text=f"If it is missing or does not start: install the one with exactly the driver's version{where}",
            command=None if where else install,
        ),
        Fix(text=f"Check why it stopped{where}", command="sudo journalctl -u nvidia-fabricmanager -n 50", kind="look"),
    )
