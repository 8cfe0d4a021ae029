"""A process started CUDA and then forked; the child process can't use CUDA.

Symptom:
    Failed setting context: CUDA_ERROR_NOT_INITIALIZED: initialization error
    RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method
    - A child of multiprocessing that hangs at its first TensorFlow call
Cause:
    A fork copies the process's memory, but not its threads and its connection to the CUDA driver. On Linux,
    Python's multiprocessing forks by default before 3.14, as do gunicorn --preload, Celery's prefork pool and os.fork.
Verify:
    The child's first TensorFlow operation runs, and nvidia-smi lists the child.
Unless:
    Never: CUDA does not support this.
Example:
    log.events = [{"kind": "cuda-used-after-fork", "line": 3, "text": "RuntimeError: Cannot re-initialize CUDA in forked subprocess"}]
    training.runs[0].status = "failed"
    training.runs[0].reason = "RuntimeError: Cannot re-initialize CUDA in forked subprocess"
    -> CUDA was started before a fork, and is used after it: RuntimeError: Cannot re-initialize CUDA in forked subprocess.
References:
    https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#initialization
"""

from gpucheck.core.combiners.training_outcomes import Failure, TrainingOutcomes
from gpucheck.core.compat.cuda import CUDA_ERROR_NOT_INITIALIZED
from gpucheck.core.logs.events import Event
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.repairs.context import Context

FORKED = r"in forked subprocess|CUDA_ERROR_NOT_INITIALIZED"


@rule(scope=Scope.CODE, explains=("cuda-init-failed", "gpus-not-listed", "training-failed", "training-crashed"))
def check(outcomes: TrainingOutcomes, cuda: Cuda | None, context: Context) -> Finding | Skip | None:
    """Report PyTorch's own message, or TensorFlow's "not initialized" error if cuInit itself did not fail."""
    failed_here = cuda is not None and cuda.status == "failed"
    refused = failed_here or any(event.kind == "cuinit-failed" for event in outcomes.events)

    def after_fork(event: Event) -> bool:
        return event.kind != "cuda-error" or (event.fields.get("code") == str(CUDA_ERROR_NOT_INITIALIZED) and not refused)

    failure = outcomes.failure(FORKED, "cuda-used-after-fork", "cuda-error", where=after_fork)
    if not isinstance(failure, Failure):
        return failure
    return Finding(
        summary=f"CUDA was started before a fork, and is used after it: {failure.text}.",
        evidence=failure.evidence,
        fix=repairs(context, text=failure.text),
        affects=failure.affects,
    )


def repairs(context: Context, *, text: str = "") -> Fixes:
    """Start CUDA only in the process that uses it.

    Args:
        context: what is known about the program's machine.
        text: the line that reports it.
    """
    torch = context.framework == "torch" or "torch" in text
    start = "torch.multiprocessing" if torch else "multiprocessing"
    if context.notebook:
        yield Fix(text="Restart the runtime, and do not use the GPU in the notebook before the processes start")
    yield Fix(text=f'Spawn processes instead of forking them: call {start}.set_start_method("spawn") at the start of the program')
    if torch:
        yield Fix(text='For a DataLoader: multiprocessing_context="spawn", or move tensors to the GPU in the main process only')
    name = {"torch": "PyTorch", "jax": "JAX"}.get("torch" if torch else context.framework or "", "TensorFlow")
    yield Fix(text=f"Or use {name}'s devices only in the children, not before they are forked")
    yield Fix(text="gunicorn: remove --preload; Celery: --pool=solo; a child that needs no GPU: CUDA_VISIBLE_DEVICES=-1")
