"""The machine's main memory, or the part that this container or job may use, ran out or is too small to start training.

Symptom:
    Killed
    slurmstepd: error: Detected 1 oom-kill event(s)
    - Allocation of 3221225472 exceeds 10% of free system memory.
    kubectl describe pod: OOMKilled, exit code 137
    OOM when allocating tensor with shape[4096,1024,1024,64] and type float on CPU:0 by allocator cpu
Cause:
    A tensor or array that the program creates in main memory does not fit: its size depends on the batch size and the input size.
    TensorFlow alone takes 0.2 to 0.6 GiB of main memory before the first step, plus the data that is loaded, cached or shuffled in
    memory. If a container or batch job exceeds its limit, the kernel kills the process, which then prints no message.
Verify:
    free -h, and in a container cat /sys/fs/cgroup/memory.max
Unless:
    Nothing indicates a memory shortage: the kernel logged no OOM kill, and enough memory was free. The diagnosis is then
    training-crashed: something else sent SIGKILL, such as a batch system at its time limit. If more memory is free than ulimit -v allows, that
    limit refused the allocation: process-limit-too-low.
Example:
    limits.memory_limit_bytes = 536870912
    limits.memory_limit_used_bytes = 104857600
    tensorflow = {"imported": null, "error": "killed by SIGKILL", "ending": "killed by SIGKILL"}
    keras = {}
    training = {"runs": [], "ending": "killed by SIGKILL", "stage": "import"}
    -> Main memory ran out: the system killed the process at the stage "import" (SIGKILL); this container or job has a limit of 512 MiB.
References:
    https://docs.docker.com/engine/containers/resource_constraints/
    https://docs.kernel.org/admin-guide/cgroup-v2.html#memory
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.resources import Resources
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import gib, short
from gpucheck.core.probes.tensorflow import TensorFlow
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import give_more

NEEDED_BYTES = 1 << 30  # import tensorflow: some 0.6 GiB resident; the smoke job's model and data on top
# The part of these that the kernel can't drop (it can drop pages of files). Measured with TensorFlow 2.21 on a CPU: 212 MiB, or
# 244 after a small fit; in a control group with 492 MiB, training passed.
IMPORT_BYTES = 212 << 20
UNCOUNTED_BYTES = 4 << 30  # with less free memory, a kill is attributed to memory if the kernel's own count is not available
_WHO_KILLED = Fix(
    text='Find out whether memory ran out: kubectl describe pod then shows OOMKilled, docker inspect "OOMKilled": true, and the'
    " host's kernel log an oom-kill; if not, docker stop, kubectl delete or a time limit of the job ended the program"
)


@rule(
    scope=Scope.HOST,
    explains=("training-failed", "training-crashed", "tensorflow-import-failed"),
    jobs=True,
    first_check="the memory that the job may use, and what loads the data",
)
def check(resources: Resources, tensorflow: TensorFlow | None, log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report a child that the kernel killed, an allocation that failed, or too little memory to import TensorFlow."""
    fix = tuple(repairs(context, own_model=True))
    free, limits = resources.free_bytes, resources.limits
    ran_out = _killed(tensorflow, resources) or _failed(resources, log_causes)
    if ran_out is not None:
        what, evidence = ran_out
        limit = limits.memory_limit_bytes if limits is not None else None
        has = f"; this container or job has a limit of {gib(limit)}" if limit is not None else ""
        return Finding(summary=f"{what.rstrip('.')}{has}.", evidence=(*evidence, *resources.evidence), fix=fix)
    imported = bool(resources.outcomes.passed) or (tensorflow is not None and tensorflow.imported is True)
    if free is None:
        return None if imported else Skip("the available main memory is not known")
    if free >= NEEDED_BYTES:
        return None
    low = f"Only {gib(free)} of main memory are available"
    if imported:
        summary = f"{low}: TensorFlow could be imported, but a larger job may run out."
        return Finding(summary=summary, evidence=resources.evidence, fix=fix, severity=Severity.WARNING)
    if free >= IMPORT_BYTES:
        summary = f"{low}: importing TensorFlow takes 0.2 to 0.6 GiB, and a job takes more."
        return Finding(summary=summary, evidence=resources.evidence, fix=fix, severity=Severity.WARNING)
    summary = f"{low}, but importing TensorFlow takes at least {gib(IMPORT_BYTES)}."
    return Finding(summary=summary, evidence=resources.evidence, fix=fix)


def _killed(tensorflow: TensorFlow | None, resources: Resources) -> tuple[str, tuple[Evidence, ...]] | None:
    """Return a SIGKILL that the kernel counts as its own, or that came when memory was low; others have an unknown sender."""
    training, free = resources.outcomes.training, resources.free_bytes
    if training is not None and training.ending == "killed by SIGKILL" and _by_memory(training.oom_kills, free):
        where = f' at the stage "{training.stage}"' if training.stage else ""
        what = f"Main memory ran out: the system killed the process{where} (SIGKILL)"
        return what, saw(training, "ending", "stage", "oom_kills")
    if tensorflow is not None and tensorflow.ending == "killed by SIGKILL" and _by_memory(tensorflow.oom_kills, free):
        what = "Main memory ran out: the system killed the process that imported TensorFlow (SIGKILL)"
        return what, saw(tensorflow, "ending", "oom_kills")
    return None


def _by_memory(oom_kills: int | None, free: int | None) -> bool:
    # Daemons (earlyoom, systemd-oomd) kill processes too; the kernel does not count those.
    return bool(oom_kills) or (free is not None and free < (UNCOUNTED_BYTES if oom_kills is None else NEEDED_BYTES))


def _failed(resources: Resources, log_causes: LogCauses) -> tuple[str, tuple[Evidence, ...]] | None:
    if resources.refused_by_limit() is not None:
        return None  # the limit on the address space refused it: process-limit-too-low
    failed = log_causes.failed_run("host-memory-exhausted")
    if failed is not None:
        return f"Main memory ran out: {short(failed.text, 100)}", failed.evidence
    cause = log_causes.cause("host-memory-exhausted")
    return (cause.summary, log_causes.evidence(cause)) if cause is not None else None


def repairs(
    context: Context,
    *,
    shape: str = "",
    size: str = "",
    limit: str = "",
    sender: str = "",
    buffer: str = "",
    own_model: bool = False,
) -> Fixes:
    """Reduce memory use, or get more memory.

    Args:
        context: what is known about the machine.
        shape: the shape of the tensor or array that did not fit.
        size: its size: "37.3 GiB".
        limit: not empty: the limit of a container or job ended the process; "paging file": that of Windows is too small.
        sender: "unknown": a log shows only that the program was killed.
        buffer: elements of the shuffle buffer that was being filled.
        own_model: whether gpucheck's own run failed, which is small.
    """
    if buffer:
        text = f"Shuffle file names or indices before the files are read, or make the buffer of {buffer} elements smaller"
        yield Fix(text=f"{text}: dataset.shuffle(100)")
    if sender:
        yield _WHO_KILLED
    if limit == "paging file":
        yield Fix(
            text="Enlarge the paging file: System Properties > Advanced > Performance Settings > Advanced > Virtual memory",
            needs=("reboot",),
        )
    more, less = list(_more(context)), [] if own_model else list(_less(context, shape, size))
    yield from (*more, *less) if limit == "yes" or own_model else (*less, *more)
    if not context.windows:
        yield Fix.look("Find other processes that use the memory", "ps aux --sort=-rss | head")


def _less(context: Context, shape: str, size: str) -> Fixes:
    what = " with ".join(part for part in (f"{size}" if size else "", f"the shape {shape}" if shape else "") if part)
    fewer = Fix(
        text=f"Halve the batch size, then the input size; the tensor or array that did not fit has {what}"
        if what
        else "Load less into main memory at a time: smaller batches and inputs, fewer of them in one run"
    )
    read = Fix(
        text="Keep less data in memory: fewer workers in the DataLoader, each of which may copy the data set"
        if context.framework == "torch"
        else "Read data from disk in batches (tf.data) instead of one array: no .cache() without a file name, a smaller .shuffle()"
    )
    yield from (read, fewer) if shape.startswith("(") else (fewer, read)  # NumPy's shapes have parentheses: an array of data


def _more(context: Context) -> Fixes:
    if context.notebook:
        yield Fix(text="Choose a runtime with more memory, and restart the session before it loads the data again")
    yield from give_more(
        context,
        "memory",
        docker="--memory 16g",
        kubernetes='resources: {requests: {memory: "16Gi"}, limits: {memory: "16Gi"}}',
        slurm="--mem=32G",
    )
    if not (context.notebook or context.in_container or context.scheduler):
        yield Fix(text="End other programs that use the memory, or use a machine with more")
