"""The GPU's device files are there, and this process may not open them.

Symptom:
    Failed to initialize NVML: Insufficient Permissions
    Failed to initialize NVML: Unknown Error
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    The same commands work with sudo
Cause:
    Two kinds of refusal. EACCES: the file's mode or group leaves this user out (or SELinux does). EPERM: a device rule of the
    control group forbids it: a container that lost its GPUs when systemctl daemon-reload ran on its machine, a
    rootless container, or a Slurm job that was given no GPU.
Fix:
    1. See who may open the files, join the group that owns them, and log in again
       $ ls -l /dev/nvidia*; id; sudo usermod -aG video $USER
    2. In a container: restart it; a systemctl daemon-reload on its machine takes the GPUs away from running ones
    3. Against a repetition, pass the GPUs with CDI: --device nvidia.com/gpu=all instead of --gpus all
    4. Rootless Podman: add --security-opt=label=disable --group-add keep-groups
    5. Slurm: ask for a GPU, such as with --gres=gpu:1
Verify:
    head -c0 /dev/nvidiactl /dev/nvidia0 prints no error.
Unless:
    The machine gives each job only its own GPUs: CUDA then counts those, and this is not said.
Example:
    container = {"inside": false}
    device_nodes.control = {"path": "/dev/nvidiactl", "present": true, "openable": false, "error": "EACCES", "mode": "0660", "owner": "root", "group": "video"}
    device_nodes.gpus = [{"path": "/dev/nvidia0", "present": true, "openable": false, "error": "EACCES", "mode": "0660", "owner": "root", "group": "video"}]
    driver = {"status": "failed", "result": 4, "result_name": "NVML_ERROR_NO_PERMISSION", "problem": "Insufficient Permissions"}
    gpus.gpus = []
    cuda = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> This user may not open /dev/nvidiactl and /dev/nvidia0 (EACCES): they belong to root and the group video, mode 0660.
References:
    https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/troubleshooting.html
    https://slurm.schedmd.com/gres.html
"""

from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.device_nodes import DeviceNode, DeviceNodes
from gpucheck.probes.driver import Driver
from gpucheck.probes.environment import Environment
from gpucheck.probes.wsl import Wsl
from gpucheck.rules._driver import WITHOUT_CUDA, given_no_gpu
from gpucheck.rules._words import listing

_REFUSED = ("EACCES", "EPERM")
_NVML_REFUSED = (4, 17)  # no permission; blocked by the operating system or a control group


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=(*WITHOUT_CUDA, "devices-hidden", "container-without-gpu"))
def check(
    wsl: Wsl,
    container: Container,
    environment: Environment | None,
    device_nodes: DeviceNodes,
    driver: Driver,
    cuda: Cuda,
) -> Finding | Skip | None:
    """Where CUDA counts any GPU, the others are refused on purpose: they belong to another job."""
    if wsl.inside or cuda.device_count or given_no_gpu(container, wsl, device_nodes, driver):
        return None
    nodes = {"control": device_nodes.control, "uvm": device_nodes.uvm}
    nodes |= {f"gpus[{place}]": node for place, node in enumerate(device_nodes.gpus)}
    refused = {field: node for field, node in nodes.items() if node.openable is False and node.error in _REFUSED}
    if any(node.openable for node in device_nodes.gpus) and not {"control", "uvm"} & refused.keys():
        refused = {}  # some GPU is ours to open: not the reason why CUDA counts none
    evidence = (
        *(item for field in refused for item in saw(device_nodes, field)),
        *saw(driver, "status", "result_name"),
        *saw(cuda, "status", "result_name"),
    )
    if refused:
        first = next(iter(refused.values()))
        return Finding(
            summary=_summary(container, list(refused.values())),
            evidence=evidence,
            fix=_fixes(container, environment, first),
        )
    if driver.result in _NVML_REFUSED:
        return Finding(
            summary=f"The system does not let this process use the NVIDIA driver: NVML answers"
            f" {driver.problem or driver.result_name or driver.result}.",
            evidence=evidence,
            fix=_fixes(container, environment, None),
        )
    if cuda.status == "failed" and any(node.present and node.openable is None for node in nodes.values()):
        return Skip("whether the device files may be opened could not be tried")
    return None


def _summary(container: Container, refused: list[DeviceNode]) -> str:
    first = refused[0]
    who = "This container" if container.inside else "This user"
    paths = listing([node.path for node in refused])
    if first.error == "EPERM":
        return f"{who if container.inside else 'This process'} may not open {paths}: a device rule of its control group forbids it (EPERM)."
    verb = "they belong" if len(refused) > 1 else "it belongs"
    owner = f": {verb} to {first.owner} and the group {first.group}, mode {first.mode}" if first.owner and first.mode else ""
    return f"{who} may not open {paths} (EACCES){owner}."


def _fixes(container: Container, environment: Environment | None, node: DeviceNode | None) -> tuple[Fix, ...]:
    if environment is not None and "SLURM_JOB_ID" in environment.variables:
        return (
            Fix(text="Ask Slurm for a GPU when starting the job", command="srun --gres=gpu:1 nvidia-smi -L"),
            Fix(text="See what this job was given", command="scontrol show job $SLURM_JOB_ID | grep -i tres"),
        )
    if container.inside:
        return (
            Fix(text="Restart the container: a systemctl daemon-reload on its machine takes the GPUs away from running ones"),
            Fix(text="Against a repetition, pass the GPUs with CDI: --device nvidia.com/gpu=all instead of --gpus all"),
            Fix(text="Rootless Podman: add --security-opt=label=disable --group-add keep-groups"),
        )
    group = node.group if node is not None and node.group not in (None, "root") else None
    if group:
        return (Fix(text="Join the group, then log out and in again", command=f"sudo usermod -aG {group} $USER"),)
    return (
        Fix(
            text="Give every user access (the driver's own default mode)",
            command="sudo chmod 0666 /dev/nvidiactl /dev/nvidia-uvm /dev/nvidia[0-9]*",
        ),
        Fix(
            text="If it comes back after a restart, look for NVreg_DeviceFileMode and for udev rules",
            command="grep -r NVreg_DeviceFile /etc/modprobe.d/; grep -ril nvidia /etc/udev/rules.d/",
        ),
    )
