"""This process has no permission to open the GPU's device files.

Symptom:
    Failed to initialize NVML: Insufficient Permissions
    Failed to initialize NVML: Unknown Error
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    The same commands work with sudo
Cause:
    There are two errors. EACCES: the file's mode or group (or SELinux) denies access to this user. EPERM: a device rule of the
    control group forbids it, as in a container that lost its GPUs when systemctl daemon-reload ran on the host, in a rootless
    container, or in a Slurm job without a GPU.
Fix:
    1. Check who may open the files, join the group that owns them, and log in again
       $ ls -l /dev/nvidia*; id; sudo usermod -aG video $USER
    2. In a container: restart it; systemctl daemon-reload on the host removes GPUs from running containers
    3. To prevent this, pass the GPUs with CDI: --device nvidia.com/gpu=all instead of --gpus all
    4. Rootless Podman: add --security-opt=label=disable --group-add keep-groups
    5. Slurm: request a GPU, for example with --gres=gpu:1
Verify:
    head -c0 /dev/nvidiactl /dev/nvidia0 prints no error.
Unless:
    The machine gives each job only its own GPUs: CUDA then lists those, and this is not reported.
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

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.device_nodes import DeviceNode
from gpucheck.core.probes.environment import Environment
from gpucheck.core.repairs.fixes import ASK_SLURM
from gpucheck.core.repairs.wording import listing
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_REFUSED = ("EACCES", "EPERM")
_NVML_REFUSED = (4, 17)  # no permission; blocked by the operating system or a control group


@rule(severity=Severity.ERROR, scope=Scope.HOST, explains=(*WITHOUT_CUDA, "devices-hidden", "container-without-gpu"))
def check(stack: CudaStack, environment: Environment | None) -> Finding | Skip | None:
    """Report refused device files, unless CUDA lists a GPU: the others then belong to another job."""
    container, device_nodes, driver, cuda = stack.container, stack.device_nodes, stack.driver, stack.cuda
    if stack.wsl.inside or stack.counts_gpus or stack.given_no_gpu:
        return None
    nodes = {"control": device_nodes.control, "uvm": device_nodes.uvm}
    nodes |= {f"gpus[{place}]": node for place, node in enumerate(device_nodes.gpus)}
    refused = {field: node for field, node in nodes.items() if node.openable is False and node.error in _REFUSED}
    if any(node.openable for node in device_nodes.gpus) and not {"control", "uvm"} & refused.keys():
        refused = {}  # some GPU is ours to open: not the reason why CUDA counts none
    if not refused and driver.result not in _NVML_REFUSED:
        if cuda.status == "failed" and any(node.present and node.openable is None for node in nodes.values()):
            return Skip("opening the device files could not be tried")
        return None
    first = next(iter(refused.values()), None)
    return Finding(
        summary=_summary(container, list(refused.values()))
        if refused
        else f"The system does not let this process use the NVIDIA driver: NVML returned"
        f" {driver.problem or driver.result_name or driver.result}.",
        evidence=(
            *saw(device_nodes, *refused),
            *saw(driver, "status", "result_name"),
            *saw(cuda, "status", "result_name"),
        ),
        fix=_fixes(container, environment, first),
    )


def _summary(container: Container, refused: list[DeviceNode]) -> str:
    first, paths = refused[0], listing([node.path for node in refused])
    if first.error == "EPERM":
        who = "This container" if container.inside else "This process"
        return f"{who} may not open {paths}: a device rule of its control group forbids it (EPERM)."
    who = "This container" if container.inside else "This user"
    verb = "they belong" if len(refused) > 1 else "it belongs"
    owner = f": {verb} to {first.owner} and the group {first.group}, mode {first.mode}" if first.owner and first.mode else ""
    return f"{who} may not open {paths} (EACCES){owner}."


def _fixes(container: Container, environment: Environment | None, node: DeviceNode | None) -> tuple[Fix, ...]:
    if environment is not None and "SLURM_JOB_ID" in environment.variables:
        return (
            ASK_SLURM,
            Fix(text="Check the resources of this job", command="scontrol show job $SLURM_JOB_ID | grep -i tres", kind="look"),
        )
    if container.inside:
        return (
            Fix(text="Restart the container: systemctl daemon-reload on the host removes GPUs from running containers"),
            Fix(text="To prevent this, pass the GPUs with CDI: --device nvidia.com/gpu=all instead of --gpus all"),
            Fix(text="Rootless Podman: add --security-opt=label=disable --group-add keep-groups"),
        )
    group = node.group if node is not None and node.group not in (None, "root") else None
    if group:
        return (
            Fix(
                text="Join the group, then log out and in again", command=f"sudo usermod -aG {group} $USER", needs=("new shell",)
            ),
        )
    return (
        Fix(
            text="Give every user access (the driver's own default mode)",
            command="sudo chmod 0666 /dev/nvidiactl /dev/nvidia-uvm /dev/nvidia[0-9]*",
        ),
        Fix(
            text="If it happens again after a restart, check NVreg_DeviceFileMode and udev rules",
            command="grep -r NVreg_DeviceFile /etc/modprobe.d/; grep -ril nvidia /etc/udev/rules.d/",
            kind="look",
        ),
    )
