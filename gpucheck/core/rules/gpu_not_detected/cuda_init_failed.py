"""CUDA can't be initialized although a driver is installed, and no other rule explains why.

Symptom:
    failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error
    - failed call to cuInit: CUDA_ERROR_NOT_INITIALIZED: initialization error
    - failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    RuntimeError: cuda runtime error (999) : unknown error
Cause:
    The driver fails to start CUDA without giving a reason. Frequent causes: the machine was suspended and resumed, which leaves
    nvidia-uvm in a bad state; an incomplete driver upgrade; a virtual machine whose GPU is only partly passed through, or whose
    virtual GPU has no license (error 102); an MPS server that does not respond (805, 807, 808).
Verify:
    gpucheck --quick finds nothing.
Unless:
    Never on a machine that should train on its GPU. A machine without a GPU reports CUDA_ERROR_NO_DEVICE, which is not an error
    with --allow-cpu. For gpucheck node, an error that a job can cause (2, 46, 304, 805 to 810) is a warning, and no verdict is
    reached.
Example:
    container = {"inside": false}
    cuda = {"status": "failed", "result": 999, "result_name": "CUDA_ERROR_UNKNOWN", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> CUDA can't be initialized: cuInit returned CUDA_ERROR_UNKNOWN (999: the driver gives no reason).
References:
    https://docs.nvidia.com/cuda/cuda-driver-api/ (CUresult)
"""

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.gpu_presence import refuses
from gpucheck.core.combiners.xid_reports import XidReports, affected, cited, codes, devices
from gpucheck.core.compat import results
from gpucheck.core.compat.cuda import CUDA_ERROR_NO_DEVICE, CUDA_ERRORS_OF_JOBS, CUDA_ERRORS_OF_MPS
from gpucheck.core.model import Action, Finding, Fix, Fixes, Level, Request, Scope, Severity, rule, saw
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.pci import Pci
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import UPDATE_WSL_CONTAINERS
from gpucheck.core.repairs.machine import act, install_driver, required_action, restart, restart_container

_MPS = Fix(text="Stop the MPS server and its clients, then restart it", command="echo quit | nvidia-cuda-mps-control")
_OF_CODE = {
    "500": (
        UPDATE_WSL_CONTAINERS.after("In a container on WSL2:"),
        Fix(text="Otherwise reinstall the driver: its libraries are incompatible with each other", needs=("reboot",)),
    ),
    "102": (
        Fix(
            text="License the virtual GPU: set the license server in /etc/nvidia/gridd.conf, then restart the service",
            command="sudo systemctl restart nvidia-gridd",
        ),
    ),
    **dict.fromkeys(map(str, CUDA_ERRORS_OF_MPS), (_MPS,)),
}
_RELOAD = Fix(
    text="If the machine was suspended: end every GPU program, then reload nvidia-uvm",
    command="sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm",
)
_READ_KERNEL_LOG = Fix.look("Read the kernel's messages", 'sudo dmesg | grep -i -E "nvrm|xid" | tail')


@rule(scope=Scope.HOST, explains=("gpus-not-listed", "training-failed", "gpu-count-unexpected"))
def check(
    stack: CudaStack, pci: Pci, request: Request, xids: XidReports, environment: Environment | None, context: Context
) -> Finding | None:
    """Report that cuInit failed or lists no GPU although the machine has one, or that the driver returned an error."""
    cuda, refused = stack.cuda, refuses(stack.cuda)
    failed = cuda.status == "failed" or (cuda.status == "ok" and cuda.device_count == 0)
    if not failed or (stack.container_lacks_gpu and not (refused and not request.needs_gpu)):
        return None  # container-without-gpu does not apply if no GPU is needed
    nodes = any(node.present for node in stack.device_nodes.gpus)
    if not (refused or stack.driver.gpu_count or pci.gpus or stack.wsl.dxg_present or nodes):
        return None  # no GPU to start on
    variables = environment.variables if environment is not None else {}
    hidden = cuda.result == CUDA_ERROR_NO_DEVICE and "CUDA_VISIBLE_DEVICES" in variables and not request.needs_gpu
    of_a_job = cuda.result in CUDA_ERRORS_OF_JOBS and request.level is Level.NODE
    reports = xids.of("start")
    action = xids.action(reports).value if reports else ""
    return Finding(
        summary=_summary(cuda),
        evidence=(
            *saw(cuda, "status", "result", "problem", "library"),
            *saw(stack.driver, "status", "result_name", "gpu_count"),
            *saw(pci, "gpus"),
            *(cited(reports) or xids.last_message),
        ),
        fix=repairs(context, code=str(cuda.result or ""), action=action, devices=devices(reports), xids=codes(reports)),
        affects=affected(reports),
        severity=Severity.WARNING if hidden or of_a_job else None,
    )


def _summary(cuda: Cuda) -> str:
    if cuda.status == "ok":
        return "CUDA starts, but lists no GPU."
    result = results.cuda(str(cuda.result)) if cuda.result is not None else None
    name = cuda.result_name or (result.name if result else None)
    if name is None:
        return f"CUDA can't be initialized: {cuda.problem or 'cuInit failed'}."
    meaning = result.meaning if result else ""
    return f"CUDA can't be initialized: cuInit returned {name} ({cuda.result}{f': {meaning}' if meaning else ''})."


def repairs(
    context: Context, *, code: str = "", action: str = "", devices: str = "", xids: str = "", starting: str = ""
) -> Fixes:
    """Make CUDA start.

    Args:
        context: what is known about the machine.
        code: cuInit's result: "999".
        action: the required action; empty for the one that the messages require.
        devices: comma-separated addresses of the GPUs that could not be started.
        xids: comma-separated codes of the kernel's messages about them.
        starting: non-empty if it failed on the host, before a container started.
    """
    required = required_action(action, xids, Action.IGNORE)
    yield from act(context, required, devices, xids)
    if context.notebook or context.windows or context.in_wsl:
        yield from restart(context)
        yield from install_driver(context, "Install NVIDIA's current driver")
        return
    yield from _OF_CODE.get(code, ())
    if code not in _OF_CODE:
        if context.in_container and not starting:
            yield from restart_container(context)
        yield _RELOAD
        yield from restart(context, "Restart the machine; if that does not help, reinstall the driver")
    if context.in_container and not starting:
        yield Fix.look("Check whether CUDA starts outside the container (nvidia-smi does not show this)", "gpucheck --quick")
    yield _READ_KERNEL_LOG
