"""Repairs of the layers below CUDA that several rules use: the driver, a runtime with a GPU, a restart."""

from collections.abc import Mapping

from gpucheck.core.compat import vendors, versions
from gpucheck.core.compat.xid import xid
from gpucheck.core.model import Action, Fix, Fixes
from gpucheck.core.model.findings import Need
from gpucheck.core.model.wording import LABELS
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import for_xids

_INSTALL = {
    "ubuntu": "sudo ubuntu-drivers install",
    "linuxmint": "sudo ubuntu-drivers install",
    "debian": "sudo apt-get install -y linux-headers-amd64 nvidia-driver",
    "fedora": "sudo dnf install -y akmod-nvidia xorg-x11-drv-nvidia-cuda",
    **dict.fromkeys(("rhel", "rocky", "almalinux"), "sudo dnf module install -y nvidia-driver:open-dkms"),
    "arch": "sudo pacman -S nvidia-open-dkms nvidia-utils",
}
_SOURCE = {
    "debian": " (from the sections contrib, non-free and non-free-firmware)",
    "fedora": " (from RPM Fusion's nonfree repository)",
    **dict.fromkeys(("rhel", "rocky", "almalinux"), " (from NVIDIA's own repository)"),
}
# How each runtime starts a container with its GPUs.
START_WITH_GPUS = {
    "docker": Fix(text="Start the container with its GPUs: docker run --gpus all IMAGE", needs=("network",)),
    "podman": Fix(text="Start the container with its GPUs: podman run --device nvidia.com/gpu=all IMAGE"),
    "kubernetes": Fix(text='Request a GPU in the container\'s specification: resources.limits["nvidia.com/gpu"]: 1'),
    "apptainer": Fix(text="Start the container with its GPUs: apptainer exec --nv IMAGE COMMAND"),
    "lxc": Fix(text="Pass the GPU into the container; with LXD or Incus: lxc config device add CONTAINER gpu gpu"),
    "enroot": Fix(text="Start the container with NVIDIA_VISIBLE_DEVICES=all in its environment, and in Slurm with --gres=gpu:1"),
}
_DRAIN = "Drain the node (scontrol update NodeName=NODE State=DRAIN Reason=gpu, afterwards State=RESUME), then"
_RESTART = {
    "docker": "Restart the container: docker restart CONTAINER",
    "podman": "Restart the container: podman restart CONTAINER",
    "kubernetes": "Delete the pod, so that its controller starts another: kubectl delete pod POD",
    "lxc": "Restart the container: lxc restart CONTAINER",
}
_COMMON = ("ubuntu", "debian", "fedora")  # the variants for an unknown distribution


def install_driver(context: Context, what: str = "Install NVIDIA's driver") -> Fixes:
    """Install the newest driver: with the distribution's packages, on Windows for WSL, on the host for a container.

    Args:
        context: the machine.
        what: the step, without the place to do it.
    """
    if context.notebook:
        return  # its provider installs the driver
    if context.in_wsl:
        text = f"{what} on Windows (from nvidia.com/drivers), not inside WSL, then restart WSL from a Windows prompt"
        yield Fix(text=text, command="wsl.exe --shutdown", needs=("network",))
    elif context.in_container and not context.windows:
        yield Fix(text=f"{what}, then restart the host", needs=("reboot",)).after("On the host:")
    else:
        yield from _of_linux(context, what)
        windows = Fix(text=f"{what} on Windows, from nvidia.com/drivers, then restart Windows", needs=("reboot",))
        yield from context.only(windows, system="win32|wsl")


def _of_linux(context: Context, what: str) -> Fixes:
    if context.excludes(system="linux"):
        return
    known = context.kinds["distribution"]
    for name in (known,) if known else _COMMON:
        text = f"{what}{_SOURCE.get(name, '')}, then restart the machine"
        yield from context.only(Fix(text=text, command=_INSTALL.get(name), needs=("reboot",)), distribution=name)


def by_distribution(
    context: Context, text: str, commands: Mapping[str, str], otherwise: str | None = None, needs: tuple[Need, ...] = ()
) -> Fixes:
    """Yield a fix with the command of the distribution; if that is unknown, one for each that has a label.

    Args:
        context: the machine.
        text: the fix's text.
        commands: names of distributions, with "|" between several -> their command.
        otherwise: the command of every other distribution; None: unknown.
        needs: what the fix needs.
    """
    known = context.kinds["distribution"]
    if known and not any(known in names.split("|") for names in commands):
        yield Fix(text=text, command=otherwise, needs=needs)
    for names, command in commands.items():
        if known or any(name in LABELS for name in names.split("|")):
            yield from context.only(Fix(text=text, command=command, needs=needs), distribution=names)


def notebook_gpu(context: Context) -> Fixes:
    """Choose a runtime with a GPU, if a notebook service runs the program."""
    if context.notebook == "colab":
        yield Fix(text="Choose a GPU in Colab's menu: Runtime > Change runtime type > T4 GPU; this restarts the runtime")
    elif context.notebook:
        yield Fix(text="Choose a GPU in the notebook's settings, under Accelerator; this restarts the session")


def restart(context: Context, text: str = "Restart the machine") -> Fixes:
    """Restart what runs the driver: Windows for WSL, the host for a container.

    Args:
        context: the machine.
        text: the step outside WSL and containers.
    """
    if context.notebook:
        yield Fix(text="Restart the notebook's runtime, which gives it another machine")
    elif context.in_wsl:
        yield Fix(text="Restart WSL, from a Windows prompt", command="wsl.exe --shutdown")
    elif context.windows:
        yield Fix(text=text.replace("the machine", "Windows"), needs=("reboot",))
    else:
        own = Fix(text=text, command="sudo reboot")
        yield own.after(_DRAIN) if context.scheduler == "slurm" else own


def restart_container(context: Context) -> Fixes:
    """Restart the container, with the command of its runtime."""
    kind = context.kinds["container"] or "docker"
    yield Fix(text=_RESTART.get(kind, "Restart the container"))


def start_with_gpus(context: Context) -> Fixes:
    """Start a container with its GPUs, with the options of its runtime; for an unknown runtime, one fix for each."""
    for kind, fix in START_WITH_GPUS.items():
        yield from context.only(fix, container=f"{kind}|containerd|nspawn" if kind == "docker" else kind)


def apple_plugin(context: Context) -> Fix:
    """Install Apple's plugin for the Mac's own GPU with the newest TensorFlow that it works with."""
    own = context.interpreter.version if context.interpreter is not None else context.python_version
    packages, newest = vendors.METAL_PACKAGES, vendors.METAL_LAST_PYTHON
    fits = own is None or versions.at_least(newest, versions.minor(own))
    command = context.pip(*packages) if fits else context.new_environment(*packages, python=newest)
    return Fix(
        text="For the GPU of a Mac with Apple silicon, install Apple's plugin and a TensorFlow that it works with",
        command=command,
    )


def required_action(action: str, xids: str, otherwise: Action) -> Action:
    """Return the action for a hardware fault.

    Args:
        action: the finding's action; empty: the strongest action of the kernel's messages.
        xids: codes of these messages, comma-separated.
        otherwise: the minimum action, also without messages.
    """
    if action:
        return Action(action)
    known = (xid(int(code)) for code in xids.split(",") if code)
    return Action.strongest([otherwise, *(Action(found.action) for found in known if found is not None)])


def act(context: Context, action: Action, devices: str = "", xids: str = "") -> Fixes:
    """Yield the fixes for a hardware action, and what the kernel's messages mean.

    Args:
        context: the machine.
        action: the action.
        devices: addresses or UUIDs of the GPUs, comma-separated; empty: unknown, so no command resets one.
        xids: codes of the kernel's messages, comma-separated.
    """
    if context.notebook and action is not Action.IGNORE:
        yield from restart(context)
    elif action is Action.RESTART_APPLICATION:
        yield Fix(text="Restart the program: the fault affected nothing else")
    elif action is Action.RESET_GPU:
        yield from _reset(context, devices)
        yield from restart(context, "If the GPU can't be reset, restart the machine")
    elif action is Action.REBOOT:
        yield from restart(context, "Start no new jobs, and restart the machine")
    elif action is Action.POWER_CYCLE:
        cycle = Fix(text="Power the machine off and on; a plain restart is often not enough", needs=("reboot",))
        yield cycle.after("On the host:") if context.in_container else cycle
    elif action is Action.DRAIN:
        yield Fix(text="Start no new jobs on this machine, and let the running ones finish")
    yield from for_xids(xids, action)


def _reset(context: Context, devices: str) -> Fixes:
    if context.windows or context.in_wsl:
        return
    listed = [device for device in devices.split(",") if device]
    named = [f"{device}.0" if device.count(":") == 2 and "." not in device else device for device in listed]
    command = f"sudo nvidia-smi --gpu-reset -i {','.join(named)}" if named else None
    yield Fix(text="End every program on the GPU, then reset it", command=command)
