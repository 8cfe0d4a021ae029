"""The machine has a working GPU, but an environment variable hides it from CUDA.

Symptom:
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
    failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected
      CUDA_VISIBLE_DEVICES is set to -1 - this hides all GPUs from CUDA
    nvidia-smi shows the GPU, and tf.config.list_physical_devices("GPU") returns []
Cause:
    CUDA shows a program only the GPUs that CUDA_VISIBLE_DEVICES lists. It reads the list up to the first entry that it can't
    match, and ignores the rest. So an empty value, -1, a number that is too high, or the UUID of another GPU (or of a recreated
    MIG instance) hides everything after it. nvidia-smi ignores the variable. In a container, NVIDIA_VISIBLE_DEVICES=none passes
    in the driver without the GPUs.
Verify:
    nvidia-smi -L lists the valid names, and gpucheck --quick finds nothing.
Unless:
    The GPUs are hidden on purpose, to train on the CPU: use --allow-cpu.
Example:
    environment.variables = {"CUDA_VISIBLE_DEVICES": "-1"}
    cuda = {"status": "failed", "result": 100, "result_name": "CUDA_ERROR_NO_DEVICE", "driver_version": "13.0"}
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> CUDA_VISIBLE_DEVICES=-1 hides every GPU from CUDA: the driver sees 1, but programs see none.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/ (CUDA Environment Variables)
"""

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.compat.cuda import CUDA_ERROR_INVALID_DEVICE, CUDA_ERROR_NO_DEVICE, HIDES_ALL
from gpucheck.core.model import Assignment, Finding, Fix, Fixes, Operation, Request, Scope, Severity, Skip, rule, saw
from gpucheck.core.probes.device_nodes import DeviceNodes
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import ALLOW_CPU, REQUEST_FROM_SLURM
from gpucheck.core.repairs.machine import START_WITH_GPUS, notebook_gpu, start_with_gpus
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA
from gpucheck.core.system.shells import word

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_NO_DEVICE = (CUDA_ERROR_NO_DEVICE, CUDA_ERROR_INVALID_DEVICE)
_A_TASK_PER_GPU = Fix(text="Start one task per GPU: set --ntasks-per-node to the same number as --gpus-per-node")


@rule(scope=Scope.ENVIRONMENT, explains=(*WITHOUT_CUDA, "replica-count-mismatch"))
def check(stack: CudaStack, request: Request, environment: Environment, gpus: Gpus, context: Context) -> Finding | Skip | None:
    """Report GPUs that the driver lists but CUDA does not, because CUDA_VISIBLE_DEVICES hides them."""
    cuda, counted = stack.cuda, stack.driver.gpu_count
    none = cuda.result in _NO_DEVICE or (cuda.status == "ok" and cuda.device_count == 0)
    if not none and not cuda.device_count:
        return None
    value = environment.variables.get(_VISIBLE)
    if value is None:
        return _left_out(stack, request, context) if none else None
    entries = [entry.strip() for entry in value.split(",")]
    if (cuda.device_count or 0) >= len(entries):
        return None
    hides_all = entries[0] in HIDES_ALL
    if not counted and not (hides_all and none and _openable(stack.device_nodes)):
        return None  # there may be no GPU to hide
    usable = 0 if hides_all else _usable(entries, gpus, counted or 0)
    if usable is None:
        return Skip("the driver's GPUs could not be compared with CUDA_VISIBLE_DEVICES")
    if usable == len(entries) or usable != (cuda.device_count or 0):
        return None  # all entries are valid, or do not explain CUDA's count
    assignment = _assignment(value, cuda.device_count, slurm=context.scheduler == "slurm")
    return Finding(
        summary=_summary(value, entries, usable, counted, none=none),
        evidence=(
            *saw(environment, "variables.CUDA_VISIBLE_DEVICES"),
            *saw(stack.driver, "gpu_count"),
            *saw(cuda, "status", "result_name", "device_count"),
        ),
        fix=repairs(
            context,
            value=value,
            in_python=_VISIBLE in environment.set_in_python,
            cpu_allowed=not request.needs_gpu,
        ),
        # hidden on purpose with --allow-cpu; a shell can't change what Python sets
        assignments=() if request.allow_cpu or _VISIBLE in environment.set_in_python else (assignment,),
        severity=Severity.WARNING if not (request.needs_gpu and none) else None,
    )


def _summary(value: str, entries: list[str], usable: int, counted: int | None, *, none: bool) -> str:
    shown = f"CUDA_VISIBLE_DEVICES={value}" if value else "CUDA_VISIBLE_DEVICES (empty)"
    driver = f"the driver sees {counted}" if counted else "the device files exist"
    wrong = entries[usable]
    if none and entries[0] in HIDES_ALL:
        return f"{shown} hides every GPU from CUDA: {driver}, but programs see none."
    if none:
        return f"{shown} hides every GPU from CUDA: this machine has no GPU {wrong}, but {driver}."
    return f"{shown} lists {len(entries)} GPUs, but CUDA stops at {wrong}, which does not exist: programs see only {usable}."


def _assignment(value: str, offered: int | None, slurm: bool) -> Assignment:
    """Make every GPU visible to CUDA; only a suggestion if the value may be right for another machine or job."""
    shown = f" ({value})" if value.strip() and value.isprintable() else ""
    if slurm:
        reason = f"Slurm's list of GPUs{shown} differs from what CUDA finds: request GPUs from Slurm, because other jobs may run on these"
    elif offered:
        reason = f"CUDA stops at the first unknown entry{shown}, and lists {offered}"
    else:
        reason = f"it hides every GPU{shown}"
    apply = not (slurm or offered)
    return Assignment(variable=_VISIBLE, operation=Operation.UNSET, reason=reason, apply=apply)


def _usable(entries: list[str], gpus: Gpus, count: int) -> int | None:
    """Return how many entries CUDA accepts before the first invalid one; None if unknown."""
    for place, entry in enumerate(entries):
        here = _is_present(entry, gpus, count)
        if here is None:
            return None
        if not here:
            return place
    return len(entries)


def _is_present(entry: str, gpus: Gpus, count: int) -> bool | None:
    """Whether an entry identifies a GPU of this machine; None if unknown."""
    if entry.isdecimal():  # numbers count MIG instances if there are any
        return None if any(gpu.mig_enabled for gpu in gpus.gpus) else int(entry) < count
    if entry.startswith("GPU-"):
        uuids = [gpu.uuid for gpu in gpus.gpus if gpu.uuid is not None]
        return any(uuid.startswith(entry) for uuid in uuids) if uuids and len(uuids) == len(gpus.gpus) else None
    if entry.startswith("MIG-") and any(gpu.mig_enabled and not gpu.mig_devices for gpu in gpus.gpus):
        return None  # no instance at all, or their number is unknown: mig-misconfigured
    return False


def _openable(device_nodes: DeviceNodes) -> bool:
    return device_nodes.control.openable is True and any(node.openable for node in device_nodes.gpus)


def _left_out(stack: CudaStack, request: Request, context: Context) -> Finding | None:
    """Report NVIDIA_VISIBLE_DEVICES=none: the runtime passed in the driver, but no GPU."""
    if not stack.container.inside or stack.container.nvidia_visible_devices != "none":
        return None
    if not stack.device_nodes.control.present or any(node.present for node in stack.device_nodes.gpus):
        return None
    return Finding(
        summary="NVIDIA_VISIBLE_DEVICES=none keeps every GPU out of this container, although the driver was passed in.",
        evidence=(
            *saw(stack.container, "nvidia_visible_devices"),
            *saw(stack.device_nodes, "control.present", "gpus"),
            *saw(stack.cuda, "status", "result_name"),
        ),
        fix=repairs(context, left_out=True),
        severity=None if request.needs_gpu else Severity.WARNING,
    )


def repairs(
    context: Context,
    *,
    value: str | None = None,
    in_python: bool = False,
    cpu_allowed: bool = False,
    left_out: bool = False,
    beyond: str = "",
    ray: str = "",
) -> Fixes:
    """Show the GPUs to the program.

    Args:
        context: what is known about the machine.
        value: the value of CUDA_VISIBLE_DEVICES; None if unknown.
        in_python: whether it was set at Python's start or by the program.
        cpu_allowed: whether the run needs no GPU.
        left_out: whether the container was started with NVIDIA_VISIBLE_DEVICES=none.
        beyond: non-empty if the program requests a GPU number that is too high.
        ray: non-empty if Ray started the program.
    """
    if ray:
        text = "Request a GPU for each worker: ScalingConfig(use_gpu=True) in Ray Train, @ray.remote(num_gpus=1) for tasks and actors"
        yield Fix(text=text)
        yield Fix.look("Check that Ray has GPUs available", "ray status")
        return
    if left_out:
        yield Fix(text="Start the container with NVIDIA_VISIBLE_DEVICES=all, or with --gpus all and without the variable")
        return
    if value is None and not beyond:
        yield from notebook_gpu(context)
    if beyond and context.scheduler == "slurm" and context.framework == "jax":
        text = "Select the one GPU that Slurm gives each task: jax.distributed.initialize(local_device_ids=[0])"
        own = Fix(text=f"{text}, or request --gpus-per-node and no --gpus-per-task")
        fixes = {"one": (own,), "all": (_A_TASK_PER_GPU,)}
        yield from fixes.get(context.task_sees_gpus or "", (_A_TASK_PER_GPU, own.after("If each task sees only its own GPU:")))
    if beyond:
        yield Fix(text="Use a GPU that exists: programs number the visible ones from 0, so a single one is GPU:0 or cuda:0")
    elif context.scheduler == "slurm":
        yield REQUEST_FROM_SLURM
    elif value is None and context.in_container:
        yield from start_with_gpus(context)
    yield from _show_all(context, value, in_python=in_python)
    if value is None and not beyond and context.container is None and not context.windows:
        yield from context.only(START_WITH_GPUS["docker"], container="docker")
        yield from context.only(REQUEST_FROM_SLURM, scheduler="slurm") if context.scheduler is None else ()
    if context.scheduler != "slurm":
        yield Fix.look("List the GPUs, to select some of them by number (from 0) or by UUID", "nvidia-smi -L")
        yield from () if cpu_allowed or beyond else (ALLOW_CPU,)


def _show_all(context: Context, value: str | None, *, in_python: bool) -> Fixes:
    """Make every GPU visible to CUDA, by changing the variable where it was set."""
    if context.notebook:
        pop = f'os.environ.pop("{_VISIBLE}", None)'
        yield Fix(text=f"Make every GPU visible to CUDA: restart the runtime, and before the first import run import os; {pop}")
    elif in_python:
        yield Fix(
            text=f"Remove the Python code that sets {_VISIBLE}: it is in a .pth file, sitecustomize.py or the program itself"
        )
        folders = "import site; print(*site.getsitepackages(), site.getusersitepackages())"
        files = "--include='*.pth' --include=sitecustomize.py --include=usercustomize.py"
        look = f"grep -rl {_VISIBLE} {files} $({context.python} -c {word(folders)})"
        yield Fix.look("Find that file", look)
    else:
        where = "the system's variables" if context.windows else "~/.bashrc, the job script, the image's ENV"
        text = "Make every GPU visible to CUDA" if value is not None else f"If {_VISIBLE} is set, make every GPU visible to CUDA"
        yield Fix(text=text, command=f"unset {_VISIBLE}")
        yield Fix(text=f"If it is set again, remove it where it is set: {where}, or os.environ in the program")
