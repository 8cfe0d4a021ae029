"""CUDA does not start though a driver is here, and nothing that gpucheck knows of explains it.

Symptom:
    failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error
    failed call to cuInit: CUDA_ERROR_NOT_INITIALIZED: initialization error
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    RuntimeError: cuda runtime error (999) : unknown error
Cause:
    The driver refuses without a reason that can be seen from here. Frequent ones: the machine was suspended and resumed, which
    leaves nvidia-uvm in a bad state; a half-finished driver upgrade; a virtual machine whose GPU was not passed through whole,
    or whose virtual GPU has no licence (error 102); an MPS server that does not answer (805, 807, 808).
Fix:
    1. Load nvidia-uvm anew, with every GPU program ended (after a suspend it is often in a bad state, or not loaded)
       $ sudo rmmod nvidia_uvm; sudo modprobe nvidia_uvm && sudo nvidia-modprobe -u -c=0
    2. Where the MPS server is named: stop it (its clients too), then start it anew
       $ echo quit | nvidia-cuda-mps-control
    3. Read what the kernel says
       $ sudo dmesg | grep -i -E "nvrm|xid|nvidia|nouveau" | tail
    4. Restart the machine; if that does not help, reinstall the driver
Verify:
    gpucheck --quick finds nothing.
Unless:
    Never on a machine that is to train on its GPU. One without a GPU answers CUDA_ERROR_NO_DEVICE, which is no fault with
    --allow-cpu.
Example:
    container = {"inside": false}
    cuda = {"status": "failed", "result": 999, "result_name": "CUDA_ERROR_UNKNOWN", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> CUDA does not start: cuInit answers CUDA_ERROR_UNKNOWN (999: the driver gives no reason).
References:
    https://docs.nvidia.com/cuda/cuda-driver-api/ (CUresult)
"""

from gpucheck.compat.cuda import CUDA_ERROR_NO_DEVICE, cu_result
from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.device_nodes import DeviceNodes
from gpucheck.probes.driver import Driver
from gpucheck.probes.environment import Environment
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.kernel_log import KernelLog
from gpucheck.probes.pci import Pci
from gpucheck.probes.wsl import Wsl
from gpucheck.rules._driver import given_no_gpu
from gpucheck.rules._gpus import refuses
from gpucheck.rules._xid import advice, affected, cited, last_words, reported

_MEANINGS = {
    100: "the driver offers this process no GPU",
    102: "the virtual GPU has no licence",
    304: "a system call failed",
    805: "the MPS server does not answer",
    807: "the MPS server is recovering",
    808: "the MPS server has no place left",
    999: "the driver gives no reason",
}
_MPS = (805, 807, 808)


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=("gpus-not-listed", "training-failed"))
def check(
    request: Request,
    wsl: Wsl,
    container: Container,
    environment: Environment | None,
    pci: Pci,
    device_nodes: DeviceNodes,
    driver: Driver,
    cuda: Cuda,
    gpus: Gpus | None,
    kernel_log: KernelLog | None,
) -> Finding | None:
    """cuInit failed (or counts nothing) though something says that a GPU is here; or the driver names an error of its own."""
    failed = cuda.status == "failed" or (cuda.status == "ok" and cuda.device_count == 0)
    refused = refuses(cuda)
    if not failed or (given_no_gpu(container, wsl, device_nodes, driver) and not (refused and not request.needs_gpu)):
        return None  # container-without-gpu is silent where no GPU is needed
    here = driver.gpu_count or pci.gpus or wsl.dxg_present or any(node.present for node in device_nodes.gpus)
    if not (here or refused):
        return None  # nothing to start on
    hidden = cuda.result == CUDA_ERROR_NO_DEVICE and environment is not None and "CUDA_VISIBLE_DEVICES" in environment.variables
    known = cu_result(cuda.result) if cuda.result is not None else None
    name = cuda.result_name or (known.name if known else None)
    meaning = _MEANINGS.get(cuda.result or 0) or (known.meaning if known else None)
    if cuda.status == "ok":
        summary = "CUDA starts, but counts no GPU."
    elif name is None:
        summary = f"CUDA does not start: {cuda.problem or 'cuInit failed'}."
    else:
        summary = f"CUDA does not start: cuInit answers {name} ({cuda.result}{f': {meaning}' if meaning else ''})."
    reports = reported(kernel_log, "cuda-init-failed", gpus, pci, container)
    return Finding(
        summary=summary,
        evidence=(
            *saw(cuda, "status", "result", "problem", "library"),
            *saw(driver, "status", "result_name", "gpu_count"),
            *saw(pci, "gpus"),
            *(cited(reports) or last_words(kernel_log)),
        ),
        fix=(*advice(one.known for one in reports), *_fixes(wsl, container, cuda)),
        affects=affected(reports),
        severity=Severity.WARNING if hidden and not request.needs_gpu else None,
    )


def _fixes(wsl: Wsl, container: Container, cuda: Cuda) -> tuple[Fix, ...]:
    if wsl.inside:
        return (
            Fix(text="Restart WSL, from a Windows prompt", command="wsl.exe --shutdown"),
            Fix(text="Install NVIDIA's current Windows driver, on Windows and not inside WSL"),
        )
    kernel = Fix(text="Read what the kernel says", command='sudo dmesg | grep -i -E "nvrm|xid" | tail')
    restart = Fix(text="Restart the machine; if that does not help, reinstall the driver")
    if cuda.result in _MPS:
        return (
            Fix(text="Stop the MPS server (its clients too), then start it anew", command="echo quit | nvidia-cuda-mps-control"),
            kernel,
        )
    if container.inside:
        return (
            Fix(text="Restart the container, and see whether CUDA works outside of it", command="nvidia-smi"),
            kernel,
            restart,
        )
    reload = Fix(
        text="If the machine was suspended: load nvidia-uvm anew, with every GPU program ended",
        command="sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm",
    )
    return (reload, kernel, restart)
