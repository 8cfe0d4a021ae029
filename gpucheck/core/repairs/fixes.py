"""Fixes that several rules share."""

import re

from gpucheck.core.compat.modules import package_of
from gpucheck.core.compat.xid import Xid, xid
from gpucheck.core.model import Action, Fix, Fixes, Severity
from gpucheck.core.model.wording import listing
from gpucheck.core.repairs.context import Context

ALLOW_CPU = Fix(text="If you want to train on the CPU, allow it", command="gpucheck --allow-cpu")
IF_GPU_PRESENT = Fix.look("Nothing to repair if this machine has no NVIDIA GPU; else see why it is not used", "gpucheck")
EXPECT_NO_GPU = Fix(text="If this node should have no GPU, expect none", command="gpucheck node --gres 0")
REPLACE_MACHINE = Fix(text="In the cloud, replace this machine with another one")
OUT_OF_SERVICE = Fix(text="Start no jobs on this machine, and have it restarted or repaired")
COMPARE_WITH_CPU = Fix.look("Compare with the CPU alone", "CUDA_VISIBLE_DEVICES=-1 gpucheck --allow-cpu")
TRAIN_IN_FLOAT32 = Fix(text='Train in float32 until this is fixed: keras.mixed_precision.set_global_policy("float32")')
WITHOUT_LIBRARY_PATH = Fix(text="If LD_LIBRARY_PATH puts another copy first, start without it", command="unset LD_LIBRARY_PATH")
NEW_ENVIRONMENT = Fix(text="Install TensorFlow and its libraries in a new environment, and compare again")
UPDATE_WSL = Fix(text="Update WSL, from a Windows prompt", command="wsl.exe --update && wsl.exe --shutdown")
SEARCH_WSL_LIBRARIES = Fix(
    text="Add the folder of WSL's driver libraries to the loader's search path",
    command="echo /usr/lib/wsl/lib | sudo tee /etc/ld.so.conf.d/ld.wsl.conf && sudo ldconfig",
)
UPDATE_WSL_CONTAINERS = Fix(
    text="Update Docker Desktop (4.31 or newer) or the NVIDIA Container Toolkit (1.14.4 or newer), which pass a library that"
    " newer Windows drivers need"
)
TEST_GPU = Fix.look("Test the GPU itself, as an administrator", "dcgmi diag -r 3")
PREPARE_AHEAD = Fix(
    text="Prepare batches ahead, on several cores:"
    " dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE).batch(n).prefetch(tf.data.AUTOTUNE)"
)
CACHE_DATA = Fix(text="Cache the data that was read: dataset.cache() before the random augmentation")
CHECK_DISK = Fix.look("Check whether the disk is full", "df -h")
REQUEST_FROM_SLURM = Fix(
    text="Request a GPU from Slurm when starting the job: srun --gres=gpu:1 COMMAND, or #SBATCH --gres=gpu:1"
)
UPDATE_DOCKER = Fix(
    text="Update Docker (to 20.10.10 or newer), runc and libseccomp on the host: older ones block the system call that starts"
    " threads (clone3); or start the container with docker run --security-opt seccomp=unconfined"
)
HOLDERS = Fix.look(
    "Check which processes use the GPU's memory", "nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv"
)
# Interfaces inside one machine, unreachable from others; Docker's first network is 172.17.0.0/16.
_INTERNAL = r"(?:lo\d*|docker\d*|br-\w+|virbr\d*|veth\w+|podman\d*|cni\w*|flannel\S*|cali\w+|tun\d*|tailscale\d*)$"


def without_nccl(exchange: str = "HierarchicalCopyAllReduce", *, tried: bool = False) -> Fix:
    """Train with another exchange of gradients than NCCL's.

    Args:
        exchange: class of tf.distribute.
        tried: whether training passed with it.
    """
    worked = "Until the cause is found, train without it, which was tested here and works"
    opening = worked if tried else "Meanwhile, train without NCCL"
    return Fix(text=f"{opening}: tf.distribute.MirroredStrategy(cross_device_ops=tf.distribute.{exchange}())")


def for_another_machine(cuda: str = "") -> Fix:
    """Let conda install a build for GPUs that this machine does not have.

    Args:
        cuda: the version that the package needs: "12.4"; empty: unknown.
    """
    text = (
        "If the GPU is in another machine (this is a login node or a build machine), set the CUDA version of its driver for conda"
    )
    return Fix(text=text, command=f"export CONDA_OVERRIDE_CUDA={cuda or '12.4'}")


def for_xids(codes: str, required: Action) -> tuple[Fix, ...]:
    """Return the meaning and the action of each Xid, and whether to drain the machine; the most severe first.

    Args:
        codes: the codes of the kernel's messages, comma-separated: "79, 119".
        required: the action for all of them; the driver may request more or less than its messages usually mean.
    """
    numbers = {int(code) for code in codes.split(",") if code.strip().isdecimal()}
    known = [message for number in numbers if (message := xid(number)) is not None]
    texts = [_explained(message, required) for message in sorted(known, key=lambda message: (not message.drain, message.code))]
    if others := [str(number) for number in sorted(numbers) if xid(number) is None]:
        texts.append(f"Look up Xid {listing(others)} in NVIDIA's list: https://docs.nvidia.com/deploy/xid-errors/")
    return tuple(Fix(text=text) for text in texts)


def _explained(message: Xid, required: Action) -> str:
    meaning, own = f"Xid {message.code} means: {message.meaning}", Action(message.action)
    drains = required.severity is Severity.ERROR
    if message.drain and (not drains or Action.strongest([own, required]) is not own):
        return meaning  # the action for all of them differs from the usual one
    drain = "Drain this machine: start no new jobs until this is done" if drains else "The machine does not need to be drained"
    return f"{meaning}. What to do now: {message.advice}" + (f". {drain}" if message.drain is drains else "")


def jax_for_cuda_12(context: Context) -> Fix:
    """Install JAX's plugin for CUDA 12, in place of the one for CUDA 13."""
    command = context.pip("--upgrade", "jax[cuda12]")
    if context.jax_extra != "cuda12":
        command = f"{context.uninstall('jax-cuda13-plugin', 'jax-cuda13-pjrt')} && {command}"
    return Fix(text="Or install JAX for CUDA 12, if the driver's branch is 525 or newer", command=command)


def at_start(context: Context, what: str, *, docker: str, pod: str) -> Fixes:
    """Yield the fixes that restart a container or a pod with another option; none in a batch job or a cloud service's notebook.

    Args:
        context: where it runs.
        what: "with more memory".
        docker: options of docker run; empty: none exists.
        pod: the change for Kubernetes; empty: none exists.
    """
    if context.notebook or (context.scheduler and not context.in_container):
        return
    run = "podman run" if context.kinds["container"] == "podman" else "docker run"
    if docker:
        start = Fix(text=f"Start the container {what}: {run} {docker} IMAGE")
        yield from context.only(start, container="docker|podman|containerd|nspawn")
    if pod:
        yield from context.only(Fix(text=pod), container="kubernetes")


def give_more(context: Context, what: str, *, docker: str, kubernetes: str, slurm: str) -> Fixes:
    """Yield the fixes that give a container, a pod or a job more of a resource; none in a cloud service's notebook.

    Args:
        context: where it runs.
        what: "memory".
        docker: the option of docker run.
        kubernetes: the entry in a pod's manifest.
        slurm: the option of sbatch.
    """
    if context.notebook:
        return
    pod = f"Give the pod more {what} in its manifest: {kubernetes}"
    yield from at_start(context, f"with more {what}", docker=docker, pod=pod)
    if context.kinds["container"] in (None, "", "apptainer", "enroot"):  # those that batch jobs use
        yield from context.only(Fix(text=f"Request more {what} for the job: #SBATCH {slurm}"), scheduler="slurm")


def disable_preallocation(context: Context, text: str) -> Fixes:
    """Yield the variable that stops the framework from reserving GPU memory at its start; PyTorch does not reserve any.

    Args:
        context: with the framework; unknown: TensorFlow.
        text: the effect of the variable.
    """
    if context.framework == "jax":
        yield Fix(text=text, command="export XLA_PYTHON_CLIENT_PREALLOCATE=false")
    elif context.framework != "torch":
        yield Fix(text=text, command="export TF_FORCE_GPU_ALLOW_GROWTH=true")


def other_interface(interface: str = "", requested: str = "", address: str = "") -> Fixes:
    """Make NCCL use the network that the machines share.

    Args:
        interface: the interface that NCCL uses.
        requested: the value of NCCL_SOCKET_IFNAME.
        address: the unreachable address.
    """
    used = interface or requested.lstrip("=") or ("docker0" if address.startswith("172.17.") else "")
    if re.match(_INTERNAL, used):
        names = dict.fromkeys([re.sub(r"^docker\d*$", "docker", used), "docker", "lo"])
        yield Fix(
            text=f"Keep NCCL off {used}, which other machines can't reach",
            command=f"export NCCL_SOCKET_IFNAME=^{','.join(names)}",
        )
    elif requested and not interface:
        yield Fix(
            text=f"Remove NCCL_SOCKET_IFNAME, so that NCCL chooses the interface: it is {requested}, which this machine may not"
            " have",
            command="unset NCCL_SOCKET_IFNAME",
        )
    else:
        yield Fix(
            text="Keep NCCL off this machine's internal interfaces, or select the shared one: NCCL_SOCKET_IFNAME=eth0",
            command="export NCCL_SOCKET_IFNAME=^docker,virbr,lo",
        )
    yield Fix.look("List the interfaces with their addresses", "ip -br address")


def newer(context: Context) -> str:
    """Return the command that installs the newest release of the package that raised the exception."""
    module = context.raised_in or ""
    return context.pip("--upgrade", package_of(module) or module)
