"""The NVIDIA driver does not respond: a call to it hung, or crashed the calling process.

Symptom:
    nvidia-smi hangs, and kill -9 does not end it
    - A training job that hangs at start, in process state D
    INFO: task nvidia-smi:1234 blocked for more than 120 seconds.
    Segmentation fault (core dumped), before TensorFlow has printed anything
Cause:
    The driver waits for a GPU that stopped responding (its firmware hangs, or it fell off the bus), or another process blocks it.
    A crash instead of a hang is caused by a damaged or wrong driver library, or by a library preloaded into every process.
Verify:
    timeout 10 nvidia-smi responds within a second or two (a little longer without persistence mode).
Unless:
    The machine is too busy to respond in time: check again when it is idle.
Example:
    driver = {"status": "hung", "problem": "no response within 12 s in nvmlInit"}
    gpus = null
    cuda = {"status": "hung", "problem": "no response within 12 s in cuInit"}
    tensorflow.devices = null
    tensorflow.ending = "timed out"
    training.runs = []
    -> The NVIDIA driver does not respond to NVML and CUDA: no response within 12 s in nvmlInit.
References:
    https://docs.nvidia.com/deploy/xid-errors/
"""

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.combiners.xid_reports import XidReports
from gpucheck.core.model import Action, Finding, Fix, Fixes, Scope, rule, saw
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.machine import by_distribution, restart
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA


@rule(scope=Scope.HOST, explains=(*WITHOUT_CUDA, "training-crashed", "tensorflow-import-failed"))
def check(stack: CudaStack, xids: XidReports, gpus: Gpus | None, outcomes: TrainingOutcomes, context: Context) -> Finding | None:
    """Report a child that timed out or crashed, unless training passed on a GPU."""
    if outcomes.trained_on_gpu():
        return None
    unanswered = [
        (name, fact) for name, fact in (("NVML", stack.driver), ("CUDA", stack.cuda)) if fact.status in ("hung", "crashed")
    ]
    hung = not unanswered or any(fact.status == "hung" for _, fact in unanswered)
    if unanswered:
        names = " and ".join(name for name, _ in unanswered)
        problem = next((fact.problem for _, fact in unanswered if fact.problem), None)
        state = f"does not respond to {names}" if hung else f"can't be queried through {names}"
        summary = f"The NVIDIA driver {state}{f': {problem}' if problem else ''}."
        evidence = tuple(item for _, fact in unanswered for item in saw(fact, "status", "problem"))
    elif stack.device_nodes.hung:
        node = stack.device_nodes.hung_on or "its device files"
        summary = f"The NVIDIA driver does not respond: opening {node} did not return."
        evidence = saw(stack.device_nodes, "ending", "hung_on")
    else:
        return None
    return Finding(
        summary=summary,
        evidence=(*evidence, *xids.last_message),
        fix=repairs(context, crashed=not hung),
        action=Action.REBOOT if hung else Action.DRAIN,
        # The GPU that NVML's child was querying when it crashed.
        affects=tuple(gpu.label for gpu in (gpus.gpus if gpus is not None else ()) if gpu.problem and gpu.result is None),
    )


def repairs(context: Context, *, crashed: bool = False, process: str = "", pid: str = "") -> Fixes:
    """Restart what runs the driver. No command queries the driver, which would hang too.

    Args:
        context: what is known about the machine.
        crashed: whether the driver's library crashes the process instead of hanging.
        process: the name of the process that waits.
        pid: its process ID.
    """
    read = Fix.look("Read the kernel's messages about it", 'sudo dmesg | grep -i -E "nvrm|xid|segfault" | tail')
    if crashed and not context.excludes(system="linux"):
        yield from _reinstall(context)
    named = f": {process}, process {pid}, can't be ended while it waits" if pid else ""
    yield from restart(context, f"Restart the machine{named}")
    if context.notebook or context.windows:
        return
    if context.scheduler == "slurm":
        drain = 'sudo scontrol update NodeName=$(hostname -s) State=DRAIN Reason="the GPU driver does not respond"'
        yield Fix(text="Until then, drain this node in Slurm, so that no jobs start on it", command=drain)
    if not crashed:
        yield Fix(text="If it happens again after a restart, take the GPU out of service: the hardware is usually faulty")
    yield read


def _reinstall(context: Context) -> Fixes:
    """Replace the driver's libraries, one of which crashes the process that calls it."""
    text = "Reinstall the driver's libraries: one of them is probably damaged, or of another version"
    if context.in_container:
        yield Fix(text=f"{text}; then restart the container").after("On the host:")
    else:
        again = (
            "P=$(dpkg -S libcuda.so. libnvidia-ml.so. 2>/dev/null | grep -v ^diversion | cut -d: -f1 | sort -u);"
            ' sudo apt-get install -y --reinstall ${P:?"no package has them: run the installer of the driver again"}'
        )
        yield from by_distribution(context, text, {"ubuntu|linuxmint|debian": again})
    damaged = "Look for a damaged or wrong driver library, or one in LD_PRELOAD"
    look = "/sbin/ldconfig -p | grep -E 'libcuda|libnvidia-ml' | sed 's/.*=> //' | xargs -r ls -lL; echo $LD_PRELOAD"
    yield from context.only(Fix.look(damaged, look), system="linux|wsl")
