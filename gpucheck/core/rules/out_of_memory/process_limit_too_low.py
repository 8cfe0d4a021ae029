"""An operating system limit of this process (address space, threads, CPU time, file size) is too low for training.

Symptom:
    - terminate called after throwing an instance of 'std::bad_alloc'
    pthread_create failed: Resource temporarily unavailable
    OSError: [Errno 24] Too many open files
    CPU time limit exceeded (core dumped)
    cuInit returns CUDA_ERROR_OUT_OF_MEMORY (2) or CUDA_ERROR_OPERATING_SYSTEM (304) on a machine with free memory
Cause:
    CUDA reserves virtual addresses for the memory of every GPU at once, so ulimit -v must exceed their sum even if the memory is
    not used. TensorFlow starts several threads per processor, and each counts against ulimit -u and the container's pids limit.
    NCCL and data pipelines keep many files open. When ulimit -t is reached the kernel ends the process (SIGXCPU, then SIGKILL),
    and when a checkpoint exceeds ulimit -f it refuses to write more.
Verify:
    $ ulimit -v -u -n -t -f
Unless:
    Your programs end before the CPU time is used up, and write and open few files. gpucheck's own training takes seconds,
    writes no checkpoint and reads no data files, so it tests only address space and threads.
Example:
    limits.address_space_bytes = 68719476736
    training.runs = []
    training.ending = "killed by SIGABRT"
    training.stage = "first step"
    -> The limit on this process's address space (ulimit -v) is 64.0 GiB, but CUDA reserves addresses for all 140.4 GiB of GPU memory.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/#unified-virtual-address-space
    https://docs.docker.com/reference/cli/docker/container/run/
"""

from collections.abc import Iterable

import msgspec

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.resources import Resources
from gpucheck.core.combiners.training_outcomes import on_gpu
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import REACHED, gib
from gpucheck.core.probes.limits import Limits
from gpucheck.core.probes.system import System
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import UPDATE_DOCKER, at_start
from gpucheck.core.system.shells import word

SPACE_BESIDE_GPUS_BYTES = 8 << 30  # TensorFlow's libraries, its threads' stacks and malloc's arenas
SPACE_WITHOUT_GPU_BYTES = 4 << 30
THREADS, THREADS_PER_PROCESSOR = 64, 4  # two pools of one thread per processor in TensorFlow, one each in Eigen and OpenMP
# The minimum: the Python process and one pool. Measured on 2 processors: a fit has 9 threads, and passes with a limit of 20.
THREADS_MIN, THREADS_MIN_PER_PROCESSOR = 8, 1
_MANY = 4096  # threads and processes of a user
FILES, FILES_MIN = 128, 32  # NCCL and a pipeline that reads files in parallel; a few data files
CPU_SECONDS, CPU_SECONDS_MIN = 600, 30  # an import and a step take about 10 s; almost all training takes more than ten minutes
FILE_BYTES, FILE_BYTES_MIN = 1 << 30, 1 << 20  # a checkpoint; the first lines of a log
_ENDED_BY = {  # the limit, and the summary for it
    "killed by SIGXCPU": ("cpu_seconds", REACHED["cpu-time-limit"]),
    "killed by SIGXFSZ": ("file_size_bytes", REACHED["file-size-limit"]),
}
_FILTER = "filter"  # of system calls, in place of a limit
_RAISE = {  # limit -> the shell command that raises it, and the option of docker run --ulimit (none for the address space)
    "address space": ("ulimit -v unlimited", ""),
    "CPU time": ("ulimit -t unlimited", "cpu=-1"),
    "file size": ("ulimit -f unlimited", "fsize=-1"),
    "threads": ("ulimit -u $(ulimit -H -u)", "nproc=65535"),
    "open files": ("ulimit -n $(ulimit -H -n)", "nofile=65535"),
    "mapped files": ("sudo sysctl -w vm.max_map_count=262144", ""),
    "data": ("ulimit -d unlimited", "data=-1"),
    "locked memory": ("ulimit -l unlimited", "memlock=-1"),
}


class Shortage(msgspec.Struct, frozen=True):
    """One limit that is too low; fatal: training can't work under it."""

    summary: str
    evidence: tuple[Evidence, ...]
    limit: str  # a key of _RAISE, or _FILTER
    fatal: bool
    group: bool | None = False  # whether a control group sets it, which a shell can't raise; None: unknown
    file: str = ""  # the control group's file with the limit


@rule(
    scope=Scope.HOST,
    explains=("cuda-init-failed", "tensorflow-import-failed", "training-failed", "training-crashed"),
    first_check="ulimit -a",
)
def check(
    resources: Resources,
    used: GpusInUse | None,
    system: System | None,
    log_causes: LogCauses,
    context: Context,
) -> Finding | Skip | None:
    """Report the first limit that was reached or is too low, unless training has shown that it is sufficient."""
    reached = _refused(resources, used, system) or _reached(resources, system, log_causes, context)
    if reached is not None:
        return _finding(reached, context)
    limits, passed = resources.limits, resources.outcomes.passed
    if limits is None:
        return Skip("the limits of this process are not known")
    trained = any(on_gpu(run) for run in passed) or (bool(passed) and (used is None or not used.gpus.gpus))
    untested = (_processor_time(limits), _file_size(limits), _files(limits, trained))
    return _worst(untested if trained else (_address_space(limits, used), _threads(limits, system), *untested), context)


def _worst(shortages: Iterable[Shortage | None], context: Context) -> Finding | None:
    short = sorted((shortage for shortage in shortages if shortage is not None), key=lambda shortage: not shortage.fatal)
    return _finding(short[0], context) if short else None


def _reached(resources: Resources, system: System | None, log_causes: LogCauses, context: Context) -> Shortage | None:
    """Return the limit that a log or a signal reports."""
    training, limits = resources.outcomes.training, resources.limits
    cause = log_causes.cause("process-limit-too-low")
    if cause is not None:
        limit, fatal = REACHED[cause.events[0].kind].limit, cause.severity is not Severity.WARNING
        evidence, short = log_causes.evidence(cause), _threads(limits, system) if limits is not None else None
        if limit == "threads" and short is not None:  # which of the two limits on threads it was
            return msgspec.structs.replace(short, summary=cause.summary, evidence=(*evidence, *short.evidence))
        other = _not_by_number(limits, evidence, context) if limit == "threads" else None
        return other or Shortage(cause.summary, evidence, limit, fatal, group=None)
    if training is None or training.ending not in _ENDED_BY:
        return None
    field, reached = _ENDED_BY[training.ending]
    evidence = (*saw(training, "ending", "stage"), *saw(limits, field))
    return Shortage(reached.summary, evidence, reached.limit, True)


def _not_by_number(limits: Limits | None, evidence: tuple[Evidence, ...], context: Context) -> Shortage | None:
    """Return why a thread was refused if the number of threads can't be the reason: memory for its stack, or a filter."""
    if limits is None or limits.processes_cgroup is not None:
        return None
    if limits.data_bytes is not None and limits.data_bytes < SPACE_BESIDE_GPUS_BYTES:
        summary = f"The limit on this process's data (ulimit -d) is {gib(limits.data_bytes)}: another thread was refused."
        return Shortage(summary, (*evidence, *saw(limits, "data_bytes")), "data", True)
    if not context.in_container or (limits.processes or _MANY) < _MANY:
        return None
    summary = "The system refused to start another thread in this container, although no limit on their number is near."
    return Shortage(summary, (*evidence, *saw(limits, "processes", "processes_cgroup")), _FILTER, True)


def _address_space(limits: Limits, used: GpusInUse | None) -> Shortage | None:
    space = limits.address_space_bytes
    if space is None:
        return None
    gpus = used.used if used is not None else ()
    memory = sum(gpu.memory_total_bytes or 0 for _, gpu in gpus)
    if space >= (memory + SPACE_BESIDE_GPUS_BYTES if memory else SPACE_WITHOUT_GPU_BYTES):
        return None
    why = f"TensorFlow maps about {gib(SPACE_WITHOUT_GPU_BYTES)}"
    evidence = saw(limits, "address_space_bytes")
    if used is not None and memory:
        why = f"CUDA reserves addresses for all {gib(memory)} of GPU memory"
        evidence = (*evidence, *saw(used.gpus, f"gpus[{gpus[0][0]}].memory_total_bytes"))
    summary = f"The limit on this process's address space (ulimit -v) is {gib(space)}, but {why}."
    return Shortage(summary, evidence, "address space", True)


def _refused(resources: Resources, used: GpusInUse | None, system: System | None) -> Shortage | None:
    """Report an allocation or a thread that failed with enough memory free; a thread's stack takes addresses too (EAGAIN)."""
    limits = resources.limits
    if limits is None or limits.address_space_bytes is None:
        return None
    threads = () if _threads(limits, system) else ("thread-limit",)
    refusal = resources.refused_by_limit(*threads)
    if refusal is None:
        return None
    short = _address_space(limits, used)
    if short is not None:
        return msgspec.structs.replace(short, evidence=(*short.evidence, *refusal.evidence))
    what = "another thread" if refusal.event is not None and refusal.event.kind == "thread-limit" else "an allocation"
    return Shortage(
        f"The limit on this process's address space (ulimit -v) is {gib(limits.address_space_bytes)}: {what} was refused"
        f" while {gib(resources.free_bytes or 0)} of main memory were free.",
        (*saw(limits, "address_space_bytes"), *refusal.evidence, *resources.evidence),
        "address space",
        True,
    )


def _threads(limits: Limits, system: System | None) -> Shortage | None:
    processors = limits.cpu_affinity_count or limits.cpu_count or 1
    needed = THREADS + THREADS_PER_PROCESSOR * processors
    least = THREADS_MIN + THREADS_MIN_PER_PROCESSOR * processors
    group, user = limits.processes_cgroup, limits.processes
    if group is not None and group < needed:
        return Shortage(
            f"This container or job is limited to {group} threads and processes (pids.max), but TensorFlow starts up to {needed}"
            " on this machine.",
            saw(limits, "processes_cgroup", "processes_cgroup_file", "cpu_affinity_count"),
            "threads",
            group < least,
            True,
            limits.processes_cgroup_file or "",
        )
    # Root is exempt from RLIMIT_NPROC; for other users it counts all their processes.
    if user is not None and user < needed and not (system is not None and system.is_root):
        summary = (
            f"This user is limited to {user} threads and processes (ulimit -u), but TensorFlow starts up to {needed} on this"
            " machine."
        )
        return Shortage(summary, saw(limits, "processes", "cpu_affinity_count"), "threads", user < least)
    return None


def _files(limits: Limits, trained: bool) -> Shortage | None:
    """Return a shortage of files; gpucheck's own training generates its data, so it shows nothing about a data set."""
    count = limits.open_files
    if count is None or count >= FILES:
        return None
    why = ", too few for TensorFlow, its data files and NCCL"
    if trained and count < FILES_MIN:
        why = ": enough for gpucheck's own training, which reads no files, but too few for a data set in several files"
    summary = f"This process is limited to {count} open files (ulimit -n){why}."
    return Shortage(summary, saw(limits, "open_files"), "open files", False)


def _processor_time(limits: Limits) -> Shortage | None:
    seconds = limits.cpu_seconds
    if seconds is None or seconds >= CPU_SECONDS:
        return None
    return Shortage(
        f"This process can use {seconds} s of CPU time (ulimit -t), summed over its threads, before the kernel ends it.",
        saw(limits, "cpu_seconds"),
        "CPU time",
        seconds < CPU_SECONDS_MIN,
    )


def _file_size(limits: Limits) -> Shortage | None:
    size = limits.file_size_bytes
    if size is None or size >= FILE_BYTES:
        return None
    return Shortage(
        f"This process can't write files larger than {size >> 10} KiB (ulimit -f), too little for checkpoints and logs.",
        saw(limits, "file_size_bytes"),
        "file size",
        size < FILE_BYTES_MIN,
    )


def _finding(shortage: Shortage, context: Context) -> Finding:
    return Finding(
        summary=shortage.summary,
        evidence=shortage.evidence,
        fix=repairs(context, limit=shortage.limit, group=shortage.group, file=shortage.file),
        severity=Severity.ERROR if shortage.fatal else Severity.WARNING,
    )


def repairs(context: Context, *, limit: str = "", group: bool | None = None, file: str = "") -> Fixes:
    """Raise the limit.

    Args:
        context: what is known about the machine.
        limit: which one: a key of ``_RAISE`` or ``_FILTER``; empty: any.
        group: whether a control group sets it, which no shell can change; None: unknown.
        file: the control group's file with the limit.
    """
    if limit == _FILTER:
        yield UPDATE_DOCKER
        return
    threads = limit in ("", "threads")
    shell = [] if group or context.windows else list(_in_shell(limit))
    start = list(_by_configuration(context, limit, pids=threads and group is not False, process=not group))
    # Root in a container can't raise the hard limit on locked memory, and its only limit on threads is the control group's.
    first_outside = context.in_container and limit in ("", "threads", "locked memory")
    yield from (*start, *shell) if first_outside else (*shell, *start)
    if shell and not context.notebook:
        yield Fix(text="If the shell refuses, ask an administrator to raise it in /etc/security/limits.conf or the batch system")
    if limit in ("threads", "open files", "mapped files"):
        yield Fix(text=f"Use fewer {limit}: fewer workers and fewer parallel data readers")
    if file:
        yield Fix.look("Check the limit again", f"cat {word(file)}")


def _in_shell(limit: str) -> Fixes:
    """Yield fixes that raise a limit inherited from the shell (ulimit)."""
    chosen = [_RAISE[limit]] if limit else list(_RAISE.values())
    text = "Raise the limit in the shell or job script that starts training" if limit else "Raise the reported limit"
    yield Fix(text=text, command="; ".join(command for command, _ in chosen))


def _by_configuration(context: Context, limit: str, *, pids: bool, process: bool) -> Fixes:
    """Yield fixes that start a container or service with a higher limit.

    Args:
        context: what is known about the machine.
        limit: which one; empty: any.
        pids: whether a control group may limit the number of threads (pids.max).
        process: whether the limit may be one that processes inherit (ulimit).
    """
    ulimits = [option for name, (_, option) in _RAISE.items() if process and option and limit in ("", name)]
    options = [*(["--pids-limit -1"] if pids else []), *(f"--ulimit {option}" for option in ulimits)]
    kubelet = "Raise podPidsLimit in the configuration of the node's kubelet, then restart the pod" if pids else ""
    yield from at_start(context, "with a higher limit", docker=" ".join(options), pod=kubelet)
    if pids and not context.in_container and not context.windows:
        yield Fix(text="If a systemd service, slice or batch system sets the limit (pids.max), raise it there: TasksMax=")
