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
    1. Docker: start it with --gpus all; Podman: --device nvidia.com/gpu=all; Apptainer: --nv
    2. Kubernetes: resources.limits["nvidia.com/gpu"]: 1 in the container's specification
    3. If Docker refuses: install the NVIDIA Container Toolkit on the machine, then
       sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker
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

from gpucheck.model import Finding, Fix, Request, Scope, Severity, saw
from gpucheck.plugin import rule
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.device_nodes import DeviceNodes
from gpucheck.probes.driver import Driver
from gpucheck.probes.kernel_module import KernelModule
from gpucheck.probes.log import Log
from gpucheck.probes.pci import Pci
from gpucheck.probes.tpu import Tpu
from gpucheck.probes.wsl import Wsl
from gpucheck.rules._driver import WITHOUT_CUDA, given_no_gpu
from gpucheck.rules._log import cite, stated
from gpucheck.rules._log import told as still
from gpucheck.rules._start import CPU_IS_ENOUGH, NO_LIBRARY, UNKNOWN, cut_off, ending, starts, unserved
from gpucheck.rules._words import short

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
_REFUSALS = {
    "hook": "the NVIDIA Container Toolkit could not prepare it",
    "runtime": "this container runtime does not know how to pass one in",
    "not-passed": "it was started without one",
    "scheduler": "the cluster has none to give",
    "no-files": "the machine that it runs on has no NVIDIA driver",
}
_RESTART = Fix(
    text="Restart the container; a systemctl daemon-reload on its machine takes the GPUs away from running ones",
    command="docker restart CONTAINER",
)
_CDI = Fix(text="Against a repetition, pass the GPUs with CDI: --device nvidia.com/gpu=all instead of --gpus all")
_MISSED = (
    "cuinit-failed",
    "driver-absent",
    "placement-failed",
    "library-missing",
    "nvml-failed",
)  # what a job says without its GPU
_SCHEDULER = (
    Fix(text="See which nodes have free GPUs", command="kubectl describe nodes | grep -A 8 -E 'Allocated|nvidia.com/gpu'"),
    Fix(text="See whether the device plugin runs on the GPU nodes", command="kubectl get pods -A -o wide | grep -i nvidia"),
)


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


def in_log(log: Log) -> Finding | None:
    """The runtime's or the scheduler's refusal, else what follows from the log as a whole."""
    of_host = {event.line for event in starts(log, UNKNOWN)}  # the toolkit asks the host's CUDA: it is that which does not start
    told = [event for event in unserved(log, "container-gpu-denied") if event.fields.get("reason") in _REFUSALS]
    told = [event for event in told if event.line not in of_host]
    if not still(log, "container-gpu-denied"):  # a job that waited for a GPU, and got one
        told = [event for event in told if event.fields["reason"] != "scheduler"]
    end = ending(log)
    wanted = True
    if told:
        reason = told[0].fields["reason"]
        wanted = reason != "no-files" or bool(unserved(log, *_MISSED))
        message = told[0].fields.get("message", "")
        summary = f"A container got no GPU: {_REFUSALS[reason]}{f' ({short(message)})' if message else ''}."
        fixes: tuple[Fix, ...] = _SCHEDULER if reason == "scheduler" else (_START["docker"], _TOOLKIT)
    elif lost := cut_off(log):
        told = lost
        summary = "A container has no GPU, or has lost it, though the machine that runs it may use its own: no device answers inside it."
        fixes = (_RESTART, _START["docker"], _CDI)
    elif said := stated(log, "container-without-gpu"):
        told, wanted, summary = said, False, "The container was given no GPU."
        fixes = (_START["docker"], _TOOLKIT, _START["kubernetes"])
    elif end is not None and end.code == "container-without-gpu":
        told, wanted = end.events, end.wanted or end.result != NO_LIBRARY
        host = f" ({end.host})" if end.host else ""
        summary = f"This container{host} was given no GPU: no driver answers inside it."
        fixes = (_START["docker"], _TOOLKIT, _START["kubernetes"])
    else:
        return None
    check_host = Fix(text="See whether the machine itself can use its GPU, outside of the container", command="nvidia-smi")
    return Finding(
        summary=summary,
        evidence=cite(*told),
        fix=(*fixes, check_host) if wanted else (*fixes, check_host, CPU_IS_ENOUGH),
        severity=None if wanted else Severity.WARNING,
    )
