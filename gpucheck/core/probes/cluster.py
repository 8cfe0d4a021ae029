"""The cluster configured for this process: TF_CONFIG's tasks, Slurm's and Kubernetes' counts. Counts and indices, no host names.

Sources: ``gpucheck/core/cluster/tf_config.py`` for TF_CONFIG; sbatch(1) and Kubernetes' page on Jobs for the variables.
"""

from typing import Any

import msgspec

from gpucheck.core.cluster.tf_config import TRAINING_JOBS, Parsed, ProblemKind
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe

MENTIONED = 20  # problems
TESTED = 64  # other tasks that are connected to
CONNECT_SECONDS = 3.0


class Unreachable(Fact, frozen=True, kw_only=True):
    """Another task whose machine did not respond."""

    task: str  # "worker 3"
    reason: str  # "timed out", "no such name", "unreachable", or the system's message


class Cluster(Fact, frozen=True, kw_only=True):
    """TF_CONFIG as TensorFlow would read it, and the scheduler's variables."""

    configured: bool  # TF_CONFIG is set, and not empty
    problems: tuple[str, ...] = ()  # why TensorFlow rejects it, or its tasks can't find each other
    problem_kinds: tuple[ProblemKind, ...] = ()  # what is wrong: a kind for each problem
    task_type: str | None = None  # this process' own: "worker"
    task_index: int | None = None
    jobs: dict[str, int] = msgspec.field(default_factory=dict)  # tasks by job: {"chief": 1, "worker": 3}
    worker_count: int = 0  # tasks that train: chief and workers
    scheduler: str | None = None  # "slurm", "kubernetes"
    scheduler_nodes: int | None = None  # machines of this job
    scheduler_tasks: int | None = None  # processes of this job
    scheduler_index: int | None = None  # index of this process
    tested: int | None = None  # other tasks that were connected to; None: not tried
    unreachable: tuple[Unreachable, ...] = ()


@probe(level=Level.QUICK)
def read(host: Host) -> Cluster:
    """Read the environment; with --full, open a connection to each of the other tasks."""
    scheduled = _scheduled(host)
    text = host.env.get("TF_CONFIG", "").strip()
    if not text:
        return Cluster(configured=False, **scheduled)
    parsed = Parsed(text)
    tested, unreachable = _reach(host, parsed) if host.request.level >= Level.FULL else (None, ())
    return Cluster(
        configured=True,
        problems=tuple(problem.text for problem in parsed.problems[:MENTIONED]),
        problem_kinds=tuple(problem.kind for problem in parsed.problems[:MENTIONED]),
        task_type=parsed.type,
        task_index=parsed.index,
        jobs={job: len(tasks) for job, tasks in parsed.jobs.items()},
        worker_count=sum(len(tasks) for job, tasks in parsed.jobs.items() if job in TRAINING_JOBS),
        tested=tested,
        unreachable=unreachable,
        **scheduled,
    )


def _reach(host: Host, parsed: Parsed) -> tuple[int | None, tuple[Unreachable, ...]]:
    """Connect to the other tasks. A refused connection means the host is up but its task is not listening yet."""
    others = {task: parts for task, parts in parsed.addresses().items() if task != parsed.task}
    tested = dict(list(others.items())[:TESTED])
    if not tested:
        return None, ()
    from gpucheck.core.cluster.reach import reach  # --quick does not need it

    answers = reach(host, tested, min(CONNECT_SECONDS, host.remaining() / 4))
    missing = tuple(Unreachable(task=task, reason=reason) for task, reason in answers.items() if reason not in (None, "refused"))
    return len(tested), missing


def _scheduled(host: Host) -> dict[str, Any]:
    def number(*names: str) -> int | None:
        return next((int(value) for name in names if (value := host.env.get(name, "")).isdecimal()), None)

    if host.env.get("SLURM_JOB_ID"):
        return {
            "scheduler": "slurm",
            "scheduler_nodes": number("SLURM_STEP_NUM_NODES", "SLURM_JOB_NUM_NODES", "SLURM_NNODES"),
            "scheduler_tasks": number("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
            "scheduler_index": number("SLURM_PROCID"),
        }
    if host.env.get("KUBERNETES_SERVICE_HOST"):
        return {"scheduler": "kubernetes", "scheduler_index": number("JOB_COMPLETION_INDEX")}
    return {}
