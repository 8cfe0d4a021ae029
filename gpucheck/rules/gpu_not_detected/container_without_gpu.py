"""This is a container into which no GPU was passed.

Symptom:
    failed call to cuInit: UNKNOWN ERROR (303)
    failed call to cuInit: UNKNOWN ERROR (34)
    WARNING: The NVIDIA Driver was not detected. GPU functionality will not be available.
    docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].
    nvidia-smi: command not found, inside the container only
Cause:
    A container sees a GPU only if it was started with one: --gpus all with the NVIDIA Container Toolkit, --nv with Apptainer,
    a limit of nvidia.com/gpu in Kubernetes. An image that sets NVIDIA_VISIBLE_DEVICES=all merely asks for it. TensorFlow's GPU
    images carry a stub of libcuda.so.1, so that without --gpus they fail with error 34 instead of 303.
Fix:
    1. Docker: start it with the GPUs (Podman: --device nvidia.com/gpu=all; Apptainer: --nv)
       $ docker run --gpus all IMAGE
    2. Kubernetes: ask for one in the container's specification, resources.limits["nvidia.com/gpu"]: 1, and see which nodes have one
       $ kubectl describe nodes | grep -A 8 -E 'Allocated|nvidia.com/gpu'
    3. If Docker refuses: install the NVIDIA Container Toolkit on the machine, and tell Docker of it
       $ sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker
    4. If it had one before: restart the container; a systemctl daemon-reload on its machine takes the GPUs away from running ones
       $ docker restart CONTAINER
    5. Against a repetition, pass the GPUs with CDI: --device nvidia.com/gpu=all instead of --gpus all
    6. See whether the machine itself can use its GPU, outside of the container
       $ nvidia-smi
    7. If training on the CPU is what you want, ignore it: the job runs without a GPU
Verify:
    docker run --rm --gpus all ubuntu nvidia-smi prints the table.
Unless:
    The container is meant to train on its CPU: say so with --allow-cpu.
Example:
    container = {"inside": true, "kind": "docker"}
    environment.variables = {}
    device_nodes = {"control": {"path": "/dev/nvidiactl", "present": false}, "uvm": {"path": "/dev/nvidia-uvm", "present": false}}
    driver = {"status": "library-not-found", "problem": "libnvidia-ml.so.1: cannot open shared object file"}
    gpus.gpus = []
    cuda = {"status": "library-not-found", "problem": "libcuda.so.1: cannot open shared object file"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> This docker container was given no GPU: the machine has one, but no /dev/nvidia* was passed in.
References:
    https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html
    https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
"""

from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.device_nodes import DeviceNodes
from gpucheck.probes.driver import Driver
from gpucheck.probes.kernel_module import KernelModule
from gpucheck.probes.pci import Pci
from gpucheck.probes.tpu import Tpu
from gpucheck.probes.wsl import Wsl
from gpucheck.rules._driver import WITHOUT_CUDA, given_no_gpu

_START = {
    "docker": Fix(
        text="Start the container with --gpus all; this shows whether the machine can",
        command="docker run --rm --gpus all ubuntu nvidia-smi",
    ),
    "podman": Fix(
        text="Start the container with --device nvidia.com/gpu=all; this shows whether the machine can",
        command="podman run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi",
    ),
    "kubernetes": Fix(text='Request a GPU in the container\'s specification: resources.limits["nvidia.com/gpu"]: 1'),
    "apptainer": Fix(text="Start the container with --nv: apptainer exec --nv IMAGE COMMAND"),
    "lxc": Fix(text="Pass the GPU into the container; with LXD or Incus: lxc config device add CONTAINER gpu gpu"),
    "enroot": Fix(text="Start the container with NVIDIA_VISIBLE_DEVICES=all in its environment, and in Slurm with --gres=gpu:1"),
}
_TOOLKIT = Fix(
    text="If that fails: on the machine, install the NVIDIA Container Toolkit, then connect Docker to it",
    command="sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker",
)
_CPU = Fix(text="If training on the CPU is what you want, say so", command="gpucheck --allow-cpu")


@rule(
    severity=Severity.ERROR,
    scope=Scope.HOST,
    explains=(*WITHOUT_CUDA, "cuda-stub-loaded", "tensorflow-cpu-build", "device-nodes-missing"),
)
def check(
    request: Request,
    wsl: Wsl,
    container: Container,
    pci: Pci,
    kernel_module: KernelModule,
    device_nodes: DeviceNodes,
    driver: Driver,
    cuda: Cuda,
    tpu: Tpu | None,
) -> Finding | None:
    """No device file was passed in, though the bus shows a GPU, somebody asked for one, or the bus can't be seen.

    On WSL2 the bus never shows the GPU, so it proves nothing there.
    """
    if not given_no_gpu(container, wsl, device_nodes, driver) or cuda.device_count:
        return None
    bus_tells = pci.readable and not wsl.inside
    requested = bool(container.gpu_requested)
    if bus_tells and not pci.gpus and (not requested or not request.needs_gpu):
        return None  # the machine itself has none: no-nvidia-gpu, or rocm-gpu-unsupported
    if not requested and (not request.needs_gpu or (tpu is not None and tpu.expected)):
        return None
    if bus_tells and pci.gpus and all(gpu.kernel_driver == "vfio-pci" for gpu in pci.gpus) and not requested:
        return None  # driver-not-loaded: a virtual machine has them
    asked = f"NVIDIA_VISIBLE_DEVICES={container.nvidia_visible_devices} asks for one" if requested else ""
    undriven = pci.gpus and kernel_module.loaded is False
    if undriven:
        reason = "the machine has one, but no NVIDIA driver is loaded there"
    elif pci.gpus:
        reason = f"the machine has one{f' and {asked}' if asked else ''}, but no /dev/nvidia* was passed in"
    elif wsl.inside:
        reason = f"{f'{asked}, but ' if asked else ''}no /dev/dxg was passed in"
    else:
        reason = f"{f'{asked}, but ' if asked else ''}no /dev/nvidia* was passed in"
        reason += ", and none is on the PCI bus" if bus_tells else ""
    kind = f"{container.kind} container" if container.kind else "container"
    start = _START.get(container.kind or "", _START["docker"])
    fixes = [start, _TOOLKIT] if start is _START["docker"] else [start]
    if undriven or (bus_tells and not pci.gpus):
        fixes.insert(0, Fix(text="First make nvidia-smi work on the machine that runs this container", command="nvidia-smi"))
    return Finding(
        summary=f"This {kind} was given no GPU: {reason}.",
        evidence=(
            *saw(container, "inside", "nvidia_visible_devices", "driver_files_mounted"),
            *saw(device_nodes, "control.present"),
            *saw(pci, "gpus"),
            *saw(cuda, "status"),
        ),
        fix=tuple(fixes if requested else [*fixes, _CPU]),
    )
