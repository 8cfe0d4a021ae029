"""This process has no permission to open the GPU's device files.

Symptom:
    Failed to initialize NVML: Insufficient Permissions
    Failed to initialize NVML: Unknown Error
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    - The same commands work with sudo
Cause:
    There are two errors. EACCES: the file's mode or group (or SELinux) denies access to this user. EPERM: a device rule of the
    control group forbids it, as in a container that lost its GPUs when systemctl daemon-reload ran on the host, in a rootless
    container, or in a Slurm job without a GPU.
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
    -> This user can't open /dev/nvidiactl and /dev/nvidia0 (EACCES): they belong to root and the group video, mode 0660.
References:
    https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/troubleshooting.html
    https://slurm.schedmd.com/gres.html
"""

import re

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.compat.nvml import NOT_PERMITTED, UNKNOWN_ERROR
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.container import Container
from gpucheck.core.probes.device_nodes import DeviceNode
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import REQUEST_FROM_SLURM, UPDATE_WSL
from gpucheck.core.repairs.machine import restart, restart_container
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA

_REFUSED = ("EACCES", "EPERM")
_OF_WSL = (
    UPDATE_WSL,
    Fix(text="Install NVIDIA's current driver on Windows (from nvidia.com/drivers), not inside WSL"),
)
_ROOTLESS = Fix(text="Start it with --security-opt=label=disable --group-add keep-groups, which a rootless container needs")
_NO_CGROUPS = Fix(
    text="If a new container fails as well: set no-cgroups = false in /etc/nvidia-container-runtime/config.toml on the host, and"
    " restart Docker"
)
_CDI = Fix(
    text="To prevent this (systemctl daemon-reload on the host removes GPUs from running containers), pass the GPUs with CDI:"
    " --device nvidia.com/gpu=all instead of --gpus all"
)
_OF_ITS_USER = Fix(
    text="Start the container as root (--user 0), or on the host give every user access and restart the container:"
    " chmod 0666 /dev/nvidiactl /dev/nvidia-uvm /dev/nvidia[0-9]*"
)
_OF_A_PODS_USER = Fix(
    text="Give the pod's user access to the files: securityContext.runAsUser: 0, or supplementalGroups with the ID of the files' group"
)
_UNLABELLED = Fix(
    text="Start the container with --security-opt label=disable: the files' mode allows every user, so SELinux denies access"
)
_WITH_DOCKERS_OPTIONS = (None, "docker", "podman", "containerd")


@rule(scope=Scope.HOST, explains=(*WITHOUT_CUDA, "devices-hidden", "container-without-gpu"))
def check(stack: CudaStack, context: Context) -> Finding | Skip | None:
    """Report device files that can't be opened, unless CUDA lists a GPU: the others then belong to another job."""
    container, device_nodes, driver, cuda = stack.container, stack.device_nodes, stack.driver, stack.cuda
    if stack.wsl.inside or stack.counts_gpus or stack.container_lacks_gpu:
        return None
    nodes = {"control": device_nodes.control, "uvm": device_nodes.uvm}
    nodes |= {f"gpus[{place}]": node for place, node in enumerate(device_nodes.gpus)}
    refused = {field: node for field, node in nodes.items() if node.openable is False and node.error in _REFUSED}
    if any(node.openable for node in device_nodes.gpus) and not {"control", "uvm"} & refused.keys():
        refused = {}  # a GPU can be opened, so permissions are not the reason that CUDA lists none
    if not refused and driver.result not in NOT_PERMITTED:
        if cuda.status == "failed" and any(node.present and node.openable is None for node in nodes.values()):
            return Skip("gpucheck could not try to open the device files")
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
        fix=repairs(
            context,
            error=first.error or "" if first else "",
            group=(first.group or "root") if first else None,
            mode=(first.mode or "") if first else "",
            message=driver.problem or "",
        ),
    )


def _summary(container: Container, refused: list[DeviceNode]) -> str:
    first, paths = refused[0], listing([node.path for node in refused])
    if first.error == "EPERM":
        who = "This container" if container.inside else "This process"
        return f"{who} can't open {paths}: a device rule of its control group forbids it (EPERM)."
    who = "This container" if container.inside else "This user"
    verb = "they belong" if len(refused) > 1 else "it belongs"
    owner = f": {verb} to {first.owner} and the group {first.group}, mode {first.mode}" if first.owner and first.mode else ""
    return f"{who} can't open {paths} (EACCES){owner}."


def repairs(
    context: Context, *, error: str = "", group: str | None = None, mode: str = "", code: str = "", message: str = ""
) -> Fixes:
    """Let this process open the device files.

    Args:
        context: what is known about the machine.
        error: the error from opening the file: "EPERM", "operation not permitted"; empty if unknown.
        group: the file's group; "root" if only root has access; None if unknown.
        mode: the file's mode: "0660"; empty if unknown.
        code: the code of NVML's error.
        message: the message of NVML's error.
    """
    by_rule = (
        error.upper() == "EPERM" or "not permitted" in error or code == str(UNKNOWN_ERROR)
    )  # a device rule of the control group
    if context.notebook:
        yield from restart(context)
    elif context.scheduler == "slurm":
        yield REQUEST_FROM_SLURM
        look = "scontrol show job $SLURM_JOB_ID | grep -i tres"
        yield Fix.look("Check the resources of this job", look)
    elif context.in_wsl or ("blocked by the operating system" in message and context.wsl is None):
        for fix in _OF_WSL:
            yield fix if context.in_wsl else fix.after("WSL2:")
        if not context.in_wsl:
            yield from _in_container(context)
    elif context.in_container:
        by_mode = error.upper() == "EACCES" or "permission denied" in error.lower()
        yield from _in_container_of_user(context, group, mode) if by_mode else _in_container(context)
    else:
        if by_rule and context.container is None:
            yield from (fix.after("In a container:") for fix in restart_container(context))
        yield from _on_host(group)
        if by_rule:
            yield from context.only(REQUEST_FROM_SLURM, scheduler="slurm")


def _in_container_of_user(context: Context, group: str | None, mode: str) -> Fixes:
    """Give the user of a container access to the files, whose mode denies it."""
    kind = context.kinds["container"]
    if kind == "kubernetes":
        yield _OF_A_PODS_USER
    elif kind not in _WITH_DOCKERS_OPTIONS:
        yield from _in_container(context)
    else:
        yield from context.only(_ROOTLESS, container="podman")
        if re.fullmatch(r"0?66[0-7]", mode) and group not in (None, "root", "nogroup", "nobody"):
            yield Fix(text=f"Start the container with the group of the files: --group-add {group}")
        else:
            yield _UNLABELLED if mode.endswith("666") else _OF_ITS_USER


def _in_container(context: Context) -> Fixes:
    """Restart the container to restore its devices; some runtimes also need a permission."""
    if context.kinds["container"] == "lxc":
        yield Fix(
            text="On the host: allow the device files in the container's configuration, then restart it:"
            " lxc.cgroup2.devices.allow: c 195:* rwm, and the same for the number of nvidia-uvm in /proc/devices"
        )
        return
    yield from context.only(_ROOTLESS, container="podman")
    yield from restart_container(context)
    yield from context.only(_NO_CGROUPS, container="docker")
    yield from context.only(_CDI, container="docker|containerd|nspawn")


def _on_host(group: str | None) -> Fixes:
    for_all = Fix(
        text="Give every user access (the driver's own default mode)",
        command="sudo chmod 0666 /dev/nvidiactl /dev/nvidia-uvm /dev/nvidia[0-9]*",
    )
    if group != "root":
        text = "Join the group that owns the files, then log out and in again"
        if group is None:
            text = "Join the group that owns the files (most often video), then log out and in again"
        yield Fix(text=text, command=f"sudo usermod -aG {group or 'video'} $USER", needs=("new shell",))
        if group is not None:
            return
        for_all = for_all.after("Or")
    yield for_all
    yield Fix.look(
        "If it happens again after a restart, check NVreg_DeviceFileMode and udev rules",
        "grep -r NVreg_DeviceFile /etc/modprobe.d/; grep -ril nvidia /etc/udev/rules.d/",
    )
