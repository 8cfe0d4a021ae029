"""The container was started without access to a GPU.

Symptom:
    failed call to cuInit: UNKNOWN ERROR (303)
    failed call to cuInit: UNKNOWN ERROR (34)
    WARNING: The NVIDIA Driver was not detected. GPU functionality will not be available.
    docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].
    nvidia-smi: command not found, inside the container only
Cause:
    A container sees a GPU only if it was started with one: --gpus all with the NVIDIA Container Toolkit, --nv with Apptainer,
    a limit of nvidia.com/gpu in Kubernetes. An image that sets NVIDIA_VISIBLE_DEVICES=all only requests it. TensorFlow's GPU
    images contain a stub of libcuda.so.1, so without --gpus they fail with error 34 instead of 303.
Fix:
    1. Docker: start it with the GPUs (Podman: --device nvidia.com/gpu=all; Apptainer: --nv)
       $ docker run --gpus all IMAGE
    2. Kubernetes: request one in the container's specification, resources.limits["nvidia.com/gpu"]: 1
    3. Kubernetes: check which nodes have one
       ? kubectl describe nodes | grep -A 8 -E 'Allocated|nvidia.com/gpu'
    4. If Docker refuses: install the NVIDIA Container Toolkit on the machine, and configure Docker for it
       $ sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker
    5. If it had one before: restart the container; systemctl daemon-reload on the host removes GPUs from running containers
       $ docker restart CONTAINER
    6. To prevent this, pass the GPUs with CDI: --device nvidia.com/gpu=all instead of --gpus all
    7. Check whether the machine itself can use its GPU, outside the container
       ? nvidia-smi
    8. If you want to train on the CPU, ignore this: the job runs without a GPU
Verify:
    docker run --rm --gpus all ubuntu nvidia-smi prints the table.
Unless:
    The container should train on the CPU: use --allow-cpu.
Example:
    container = {"inside": true, "kind": "docker"}
    environment.variables = {}
    device_nodes = {"control": {"path": "/dev/nvidiactl", "present": false}, "uvm": {"path": "/dev/nvidia-uvm", "present": false}}
    driver = {"status": "library-not-found", "problem": "libnvidia-ml.so.1: cannot open shared object file"}
    gpus.gpus = []
    cuda = {"status": "library-not-found", "problem": "libcuda.so.1: cannot open shared object file"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> This docker container has no GPU: the machine has one, but no /dev/nvidia* was passed in.
References:
    https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html
    https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
"""

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.model import Finding, Fix, Scope, Severity, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.repairs.fixes import CPU_IS_ENOUGH
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_START = {
    "docker": Fix(text="Start the container with --gpus all: docker run --gpus all IMAGE", needs=("network",)),
    "podman": Fix(text="Start the container with --device nvidia.com/gpu=all"),
    "kubernetes": Fix(text='Request a GPU in the container\'s specification: resources.limits["nvidia.com/gpu"]: 1'),
    "apptainer": Fix(text="Start the container with --nv: apptainer exec --nv IMAGE COMMAND"),
    "lxc": Fix(text="Pass the GPU into the container; with LXD or Incus: lxc config device add CONTAINER gpu gpu"),
    "enroot": Fix(text="Start the container with NVIDIA_VISIBLE_DEVICES=all in its environment, and in Slurm with --gres=gpu:1"),
}
_TOOLKIT = Fix(
    text="If that fails: install the NVIDIA Container Toolkit on the machine, then configure Docker for it",
    command="sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker",
)


@rule(
    severity=Severity.ERROR,
    scope=Scope.HOST,
    explains=(*WITHOUT_CUDA, "cuda-stub-loaded", "tensorflow-cpu-build", "device-nodes-missing"),
)
def check(stack: CudaStack, kernel_module: KernelModule, tpu: Tpu | None) -> Finding | None:
    """Report that no device file was passed in, although the bus shows a GPU, one was requested, or the bus is not readable."""
    if not stack.given_no_gpu or stack.counts_gpus or not _wanted(stack, tpu):
        return None
    kind = f"{stack.container.kind} container" if stack.container.kind else "container"
    return Finding(
        summary=f"This {kind} has no GPU: {_reason(stack, kernel_module)}.",
        evidence=(
            *saw(stack.container, "inside", "nvidia_visible_devices", "driver_files_mounted"),
            *saw(stack.device_nodes, "control.present"),
            *saw(stack.pci, "gpus"),
            *saw(stack.cuda, "status"),
        ),
        fix=_fixes(stack, kernel_module),
    )


def _wanted(stack: CudaStack, tpu: Tpu | None) -> bool:
    """Whether the container should have a GPU; a host without GPUs, or with GPUs for virtual machines, has its own pages."""
    bus_tells = _bus_tells(stack)
    if stack.container.gpu_requested:
        return stack.request.needs_gpu or bool(stack.pci.gpus) or not bus_tells
    if not stack.request.needs_gpu or (tpu is not None and tpu.expected):
        return False
    return not (bus_tells and all(gpu.kernel_driver == "vfio-pci" for gpu in stack.pci.gpus))


def _bus_tells(stack: CudaStack) -> bool:
    """Whether the bus shows if a GPU is here; on WSL2 it never does."""
    return stack.pci.readable and not stack.wsl.inside


def _reason(stack: CudaStack, kernel_module: KernelModule) -> str:
    container, pci = stack.container, stack.pci
    asked = f"NVIDIA_VISIBLE_DEVICES={container.nvidia_visible_devices} requests one" if container.gpu_requested else ""
    if pci.gpus and kernel_module.loaded is False:
        return "the machine has one, but no NVIDIA driver is loaded there"
    if pci.gpus:
        return f"the machine has one{f' and {asked}' if asked else ''}, but no /dev/nvidia* was passed in"
    but = f"{asked}, but " if asked else ""
    if stack.wsl.inside:
        return f"{but}no /dev/dxg was passed in"
    return f"{but}no /dev/nvidia* was passed in{', and none is on the PCI bus' if _bus_tells(stack) else ''}"


def _fixes(stack: CudaStack, kernel_module: KernelModule) -> tuple[Fix, ...]:
    start = _START.get(stack.container.kind or "", _START["docker"])
    fixes = [start, _TOOLKIT] if start is _START["docker"] else [start]
    undriven = stack.pci.gpus and kernel_module.loaded is False
    if undriven or (_bus_tells(stack) and not stack.pci.gpus):
        fixes.insert(0, Fix(text="First make nvidia-smi work on the machine that runs this container"))
    return (*fixes, *(() if stack.container.gpu_requested else (CPU_IS_ENOUGH,)))
