"""The container was started without access to a GPU.

Symptom:
    failed call to cuInit: UNKNOWN ERROR (303)
      kernel driver does not appear to be running on this host (9f8e7d6c5b4a): /proc/driver/nvidia/version does not exist
    WARNING: The NVIDIA Driver was not detected. GPU functionality will not be available.
    docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].
    - nvidia-smi: command not found, inside the container only
Cause:
    A container sees a GPU only if it was started with one: --gpus all with the NVIDIA Container Toolkit, --nv with Apptainer,
    a limit of nvidia.com/gpu in Kubernetes. An image that sets NVIDIA_VISIBLE_DEVICES=all only requests one. TensorFlow's GPU
    images contain a stub of libcuda.so.1, so without --gpus they fail with error 34 instead of 303.
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
from gpucheck.core.model import Finding, Fix, Fixes, Request, Scope, rule, saw
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.probes.pci import Pci
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import ALLOW_CPU
from gpucheck.core.repairs.machine import START_WITH_GPUS
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_TOOLKIT = Fix(
    text="Install the NVIDIA Container Toolkit, and configure Docker for it",
    command="sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker",
)
_CONTAINERD = Fix(
    text="Add NVIDIA's runtime to the node's containerd (the GPU operator's toolkit does that)",
    command="sudo nvidia-ctk runtime configure --runtime=containerd && sudo systemctl restart containerd",
)
_READ_PLUGIN = Fix(
    text="Read the log of NVIDIA's device plugin, which offers the GPUs",
    command="kubectl logs -A -l app.kubernetes.io/name=nvidia-device-plugin --tail=50",
)
_LIST_GPUS = Fix(
    text="Check on the node that the driver lists the GPUs, and what it reports",
    command="nvidia-smi -L && sudo dmesg | grep -i nvrm",
)
# The reason why a runtime or cluster gives a container no GPU -> advice; ``_BY_REASON`` adds the fixes with commands.
_ADVICE = {
    "no-driver": "First make nvidia-smi work on the host: install its driver there; Docker from snap does not detect it, but Docker's own packages do",
    "taint": "Allow the pod on these nodes, with the key from the message: tolerations: [{key: nvidia.com/gpu, operator: Exists,"
    " effect: NoSchedule}]",
    "driver-in-image": "Build the image without driver files: end its Dockerfile with RUN rm -f FILE, where FILE is the path in the message"
    " after merged or rootfs",
    "cgroups": "On the host, for rootless or nested containers: set no-cgroups = true in /etc/nvidia-container-runtime/config.toml;"
    " otherwise update the NVIDIA Container Toolkit",
    "ldconfig": 'On the host: set the host\'s ldconfig in /etc/nvidia-container-runtime/config.toml: ldconfig = "@/sbin/ldconfig.real" on'
    ' Ubuntu, "@/sbin/ldconfig" on other systems; if only one image fails, that image has a broken ldconfig',
}
_BY_REASON = {reason: (Fix(text=text),) for reason, text in _ADVICE.items()} | {
    "slow-driver": (
        Fix(text="Keep the driver loaded, so that it responds in time", command="sudo nvidia-smi -pm 1"),
        Fix.look(
            "Run the toolkit's own check, which reports the part that fails",
            "sudo nvidia-container-cli -k -d /dev/tty info",
        ),
    ),
    "old-toolkit": (
        Fix(
            text="Update the NVIDIA Container Toolkit, which supports control groups version 2 since 1.8",
            command="sudo apt-get update && sudo apt-get install -y nvidia-container-toolkit",
        ),
    ),
    "requirement": (
        Fix(
            text="Update the NVIDIA Container Toolkit, which is older than the image; or start the image without its"
            " driver check: docker run -e NVIDIA_DISABLE_REQUIRE=1",
            command="sudo apt-get update && sudo apt-get install -y nvidia-container-toolkit",
        ),
    ),
    "enroot": (
        Fix(
            text="Create the container again with its files on a local disk of the node: set ENROOT_DATA_PATH to a folder that root can"
            " write to, not on NFS, then enroot remove -f NAME and import the image again"
        ),
        Fix(
            text="Or update NVIDIA's container tools on the node",
            command="sudo apt-get install -y --only-upgrade libnvidia-container-tools",
        ),
    ),
    "no-cli": (
        Fix(text="Install NVIDIA's container tools on the node", command="sudo apt-get install -y libnvidia-container-tools"),
    ),
    "cdi": (
        Fix(
            text="With the NVIDIA Container Toolkit, generate the description of the GPUs, and repeat this after each driver update",
            command="sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
        ),
    ),
    "unhealthy": (_READ_PLUGIN, _LIST_GPUS),
    "scheduler": (
        Fix(
            text="Check what the nodes offer: if nvidia.com/gpu is 0 or missing, the device plugin (or its GPU operator) does not run there;"
            " if GPUs are allocated, other pods have them",
            command="kubectl describe nodes | grep -E '^Name:|nvidia.com/gpu'",
        ),
        _READ_PLUGIN,
        Fix(text="Or request fewer GPUs for the pod, or wait until others end"),
    ),
}
_IF_THAT_FAILS = Fix(
    text="If that fails, make nvidia-smi work on the machine that runs this container: no GPU is on the PCI bus here"
)
_RUNTIME_CLASS = Fix(
    text="Or give the device plugin's pods that runtime: runtimeClassName: nvidia (with a RuntimeClass whose handler is nvidia)"
)
_RESTART = Fix(
    text="If it had one before: restart the container (systemctl daemon-reload on the host removes GPUs from running containers):"
    " docker restart CONTAINER",
)
_CDI = Fix(text="To prevent that, pass the GPUs with CDI: --device nvidia.com/gpu=all instead of --gpus all")
_NODES = Fix.look("Check which nodes have a GPU", "kubectl describe nodes | grep -A 8 -E 'Allocated|nvidia.com/gpu'")


@rule(scope=Scope.HOST, explains=(*WITHOUT_CUDA, "cuda-stub-loaded", "tensorflow-cpu-build", "device-nodes-missing"))
def check(
    stack: CudaStack, pci: Pci, request: Request, kernel_module: KernelModule, tpu: Tpu | None, context: Context
) -> Finding | None:
    """Report that no device file was passed in, although the bus shows a GPU, one was requested, or the bus is not readable."""
    if not stack.container_lacks_gpu or stack.counts_gpus or not _needs_gpu(stack, pci, request, tpu):
        return None
    kind = f"{stack.container.kind} container" if stack.container.kind else "container"
    return Finding(
        summary=f"This {kind} has no GPU: {_reason(stack, pci, kernel_module)}.",
        evidence=(
            *saw(stack.container, "inside", "nvidia_visible_devices", "driver_files_mounted"),
            *saw(stack.device_nodes, "control.present"),
            *saw(pci, "gpus"),
            *saw(stack.cuda, "status"),
        ),
        fix=repairs(
            context,
            undriven=bool(pci.gpus) and kernel_module.loaded is False,
            unseen=_bus_shows_gpus(stack, pci) and not pci.gpus,
            requested=bool(stack.container.gpu_requested),
        ),
    )


def _needs_gpu(stack: CudaStack, pci: Pci, request: Request, tpu: Tpu | None) -> bool:
    """Whether the container should have a GPU; other rules report a host without GPUs, or with GPUs for virtual machines."""
    bus_shows_gpus = _bus_shows_gpus(stack, pci)
    if stack.container.gpu_requested:
        return request.needs_gpu or bool(pci.gpus) or not bus_shows_gpus
    if not request.needs_gpu or (tpu is not None and tpu.expected):
        return False
    return not (bus_shows_gpus and all(gpu.kernel_driver == "vfio-pci" for gpu in pci.gpus))


def _bus_shows_gpus(stack: CudaStack, pci: Pci) -> bool:
    """Whether the PCI bus would show a GPU; on WSL2, it never does."""
    return pci.readable and not stack.wsl.inside


def _reason(stack: CudaStack, pci: Pci, kernel_module: KernelModule) -> str:
    container = stack.container
    request = f"NVIDIA_VISIBLE_DEVICES={container.nvidia_visible_devices} requests one" if container.gpu_requested else ""
    if pci.gpus and kernel_module.loaded is False:
        return "the machine has one, but no NVIDIA driver is loaded there"
    if stack.device_nodes.control.present:  # Apptainer shares them with the host
        return "it has the machine's device files, but none of its driver's libraries"
    if pci.gpus:
        return f"the machine has one{f' and {request}' if request else ''}, but no /dev/nvidia* was passed in"
    but = f"{request}, but " if request else ""
    if stack.wsl.inside:
        return f"{but}no /dev/dxg was passed in"
    return f"{but}no /dev/nvidia* was passed in{', and none is on the PCI bus' if _bus_shows_gpus(stack, pci) else ''}"


def repairs(
    context: Context,
    *,
    undriven: bool = False,
    unseen: bool = False,
    requested: bool = False,
    lost: str = "",
    reason: str = "",
) -> Fixes:
    """Start the container with its GPUs.

    Args:
        context: what is known about the machine.
        undriven: whether the host's GPU has no driver, so that there is nothing to pass in.
        unseen: whether no GPU is on the bus: the host has none, or a virtual machine of the runtime hides it.
        requested: whether the container was started with a request for a GPU.
        lost: non-empty if the container had a GPU before.
        reason: why there is no GPU, from a log: "runtime", "hook", "plugin" (of Kubernetes), "scheduler",
            "unhealthy", "taint", "no-files", "no-driver", "old-toolkit", "requirement", "enroot", "no-cli",
            "driver-in-image", "cgroups", "ldconfig", "cdi".
    """
    if reason in _BY_REASON:
        yield from _BY_REASON[reason]
        return
    if undriven or reason == "no-files":
        yield Fix(text="First make nvidia-smi work on the machine that runs this container")
    if reason == "plugin" or (reason == "runtime" and context.kinds["container"] == "kubernetes"):
        yield _CONTAINERD
        yield _RUNTIME_CLASS
        return
    if reason == "runtime" and context.amd:
        yield Fix(text="For an AMD GPU, use AMD's own image: docker run --device=/dev/kfd --device=/dev/dri rocm/tensorflow")
    steps = list(_steps(context, lost, reason))
    yield from (*steps[:1], _IF_THAT_FAILS, *steps[1:]) if unseen else steps
    yield from context.only(_NODES, container="kubernetes")
    if not requested:
        yield ALLOW_CPU


def _steps(context: Context, lost: str, reason: str) -> Fixes:
    start = START_WITH_GPUS["docker"]
    for fix in (_RESTART, _CDI) if lost else (_TOOLKIT, start) if reason in ("runtime", "hook") else (start, _TOOLKIT):
        yield from context.only(fix, container="docker|containerd|nspawn")
    for kind, fix in START_WITH_GPUS.items():
        if kind != "docker":
            yield from context.only(fix, container=kind)
