"""The host's main memory, or the part of it that this container or job may use, ran out or is too little to start with.

Symptom:
    Killed
    slurmstepd: error: Detected 1 oom-kill event(s)
    Allocation of 3221225472 exceeds 10% of free system memory.
    kubectl describe pod: OOMKilled, exit code 137
Cause:
    TensorFlow alone needs most of a GiB of main memory before the first step, and data that is loaded, cached or shuffled in
    memory comes on top. Past the limit of a container or a batch job the kernel kills the process, and nothing is printed.
Fix:
    1. Raise the limit: docker run --memory 8g ...; resources.limits.memory in Kubernetes; #SBATCH --mem=16G in Slurm
    2. Read from disk instead of keeping the data in memory: no .cache() without a file name, a smaller .shuffle() buffer.
    3. End what else fills the memory: ps aux --sort=-rss | head
Verify:
    free -h, and in a container cat /sys/fs/cgroup/memory.max
Unless:
    Nothing tells of memory: the kernel counts no kill of its own, and enough was free. Then it is training-crashed: somebody
    else sent SIGKILL, such as a batch system at its time limit.
Example:
    limits.memory_limit_bytes = 536870912
    limits.memory_limit_used_bytes = 104857600
    tensorflow = {"imported": null, "error": "killed by SIGKILL", "ending": "killed by SIGKILL"}
    keras = {}
    training = {"runs": [], "ending": "killed by SIGKILL", "stage": "import"}
    -> Main memory ran out: the system killed the process at the stage "import" (SIGKILL), with a limit of 512 MiB for this container or job.
References:
    https://docs.docker.com/engine/containers/resource_constraints/
    https://docs.kernel.org/admin-guide/cgroup-v2.html#memory
"""

import re

from gpucheck.model import Evidence, Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.plugin import rule
from gpucheck.probes.container import Container
from gpucheck.probes.limits import Limits
from gpucheck.probes.log import Event, Log
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.training import Training
from gpucheck.rules._training import failure, passed
from gpucheck.rules._words import gib, short

NEEDED_BYTES = 1 << 30  # import tensorflow: some 0.6 GiB resident; the smoke job's model and data on top
FAILED = r"allocator cpu|MemoryError|bad_alloc|Cannot allocate memory|allocator CPU|mklcpu"
UNCOUNTED_BYTES = 4 << 30  # less room than this, and a kill without the kernel's count of its own kills is put down to memory
KILLED = ("SIGKILL", "KILL", "9", "137")


@rule(
    severity=Severity.ERROR,
    scope=Scope.HOST,
    explains=("training-failed", "training-crashed", "tensorflow-import-failed"),
)
def check(
    limits: Limits | None,
    container: Container | None,
    tensorflow: TensorFlow | None,
    training: Training | None,
    log: Log | None,
) -> Finding | Skip | None:
    """The kernel killed a child, an allocation in main memory failed, or there is no room to import TensorFlow."""
    room, evidence = _room(limits)
    seen = _killed(tensorflow, training, room) or _failed(training, log)
    if seen is not None:
        limit = limits.memory_limit_bytes if limits is not None else None
        has = f", with a limit of {gib(limit)} for this container or job" if limit is not None else ""
        return _finding(f"Main memory ran out: {seen[0]}{has}.", (*seen[1], *evidence), container)
    if passed(training) or (tensorflow is not None and tensorflow.imported):
        return None
    if room is None:
        return Skip("how much main memory is available is not known")
    if room >= NEEDED_BYTES:
        return None
    summary = f"Only {gib(room)} of main memory are available, and importing TensorFlow takes about {gib(NEEDED_BYTES)}."
    return _finding(summary, evidence, container)


def _killed(
    tensorflow: TensorFlow | None, training: Training | None, room: int | None
) -> tuple[str, tuple[Evidence, ...]] | None:
    """A SIGKILL that the kernel counts as its own, or that found little memory. Of any other nobody knows who sent it."""
    if training is not None and training.ending == "killed by SIGKILL" and _by_memory(training.oom_kills, room):
        where = f' at the stage "{training.stage}"' if training.stage else ""
        return f"the system killed the process{where} (SIGKILL)", saw(training, "ending", "stage", "oom_kills")
    if tensorflow is not None and tensorflow.ending == "killed by SIGKILL" and _by_memory(tensorflow.oom_kills, room):
        return "the system killed the process that imported TensorFlow (SIGKILL)", saw(tensorflow, "ending", "oom_kills")
    return None


def _by_memory(oom_kills: int | None, room: int | None) -> bool:
    # A daemon (earlyoom, systemd-oomd) kills too, and is not counted.
    return bool(oom_kills) or (room is not None and room < (UNCOUNTED_BYTES if oom_kills is None else NEEDED_BYTES))


def _failed(training: Training | None, log: Log | None) -> tuple[str, tuple[Evidence, ...]] | None:
    kinds = ("host-out-of-memory", "out-of-memory", "allocator-dump", "killed")
    seen = failure(training, log, FAILED, *kinds, where=_host_event)
    return None if seen is None or isinstance(seen, Skip) else (short(seen.text, 100), seen.evidence)


def _host_event(event: Event) -> bool:
    if event.kind in ("out-of-memory", "allocator-dump"):
        return event.fields.get("allocator") == "cpu"
    return event.kind != "killed" or re.sub(r"^signal ", "", event.fields.get("signal", "")) in KILLED


def _room(limits: Limits | None) -> tuple[int | None, tuple[Evidence, ...]]:
    if limits is None:
        return None, ()
    rooms: list[tuple[int, tuple[str, ...]]] = []
    if limits.memory_available_bytes is not None:
        rooms.append((limits.memory_available_bytes, ("memory_available_bytes",)))
    if limits.memory_limit_bytes is not None:
        left = max(0, limits.memory_limit_bytes - (limits.memory_limit_used_bytes or 0))
        rooms.append((left, ("memory_limit_bytes", "memory_limit_used_bytes")))
    if not rooms:
        return None, ()
    room, fields = min(rooms)
    return room, saw(limits, *fields)


def _finding(summary: str, evidence: tuple[Evidence, ...], container: Container | None) -> Finding:
    if container is not None and container.kind == "kubernetes":
        raise_it = Fix(text='Raise the limit in the pod\'s manifest: resources: {limits: {memory: "8Gi"}}')
    elif container is not None and container.inside:
        raise_it = Fix(text="Start the container with more memory: docker run --memory 8g ...")
    else:
        raise_it = Fix(text="Give the job more memory (Slurm: #SBATCH --mem=16G), or train on a machine with more")
    return Finding(
        summary=summary,
        evidence=evidence,
        fix=(
            raise_it,
            Fix(text="See what else fills the memory", command="ps aux --sort=-rss | head"),
            Fix(text="Read the data from disk: no .cache() without a file name, a smaller .shuffle() buffer"),
        ),
    )
