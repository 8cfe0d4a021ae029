"""The cluster this process was told about: TF_CONFIG's tasks, Slurm's and Kubernetes' counts. Counts and places, no host names.

Sources: tensorflow/python/distribute of the TensorFlow 2.21.0 wheel, multi_worker_util.py (what a cluster must be) and
cluster_resolver/tfconfig_cluster_resolver.py (what is read); sbatch(1) and Kubernetes' page on Jobs for the variables.
"""

import re
from typing import Any

import msgspec

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe

JOBS = ("chief", "worker", "ps", "evaluator")
TRAINING_JOBS = ("chief", "worker")
LOOPBACK = r"localhost|127\.[\d.]+|::1|0\.0\.0\.0"
MENTIONED = 20  # problems
TESTED = 64  # other tasks that are connected to
CONNECT_SECONDS = 3.0


class Unreachable(Fact, frozen=True, kw_only=True):
    """Another task whose machine did not answer."""

    task: str  # "worker 3"
    reason: str  # "timed out", "no such name", "unreachable", or the system's words


class Cluster(Fact, frozen=True, kw_only=True):
    """TF_CONFIG as TensorFlow would understand it, and what a scheduler says beside it."""

    configured: bool  # TF_CONFIG is set, and not empty
    problems: tuple[str, ...] = ()  # what makes TensorFlow reject it, or its tasks miss each other
    task_type: str | None = None  # this process' own: "worker"
    task_index: int | None = None
    jobs: dict[str, int] = msgspec.field(default_factory=dict)  # tasks by job: {"chief": 1, "worker": 3}
    worker_count: int = 0  # tasks that train: chief and workers
    scheduler: str | None = None  # "slurm", "kubernetes"
    scheduler_nodes: int | None = None  # machines of this job
    scheduler_tasks: int | None = None  # processes of this job
    scheduler_index: int | None = None  # which of them this is
    tested: int | None = None  # other tasks that were connected to; None: not tried
    unreachable: tuple[Unreachable, ...] = ()


@probe(level=Level.QUICK)
def read(host: Host) -> Cluster:
    """Read the environment; with --full, open a connection to each of the other tasks."""
    scheduled = _scheduled(host)
    text = host.env.get("TF_CONFIG", "").strip()
    if not text:
        return Cluster(configured=False, **scheduled)
    parsed = _Parsed(text)
    tested, unreachable = _reach(host, parsed) if host.request.level >= Level.FULL else (None, ())
    return Cluster(
        configured=True,
        problems=tuple(parsed.problems[:MENTIONED]),
        task_type=parsed.type,
        task_index=parsed.index,
        jobs={job: len(tasks) for job, tasks in parsed.jobs.items()},
        worker_count=sum(len(tasks) for job, tasks in parsed.jobs.items() if job in TRAINING_JOBS),
        tested=tested,
        unreachable=unreachable,
        **scheduled,
    )


class _Parsed:
    """TF_CONFIG, and everything that is wrong with it."""

    def __init__(self, text: str) -> None:
        self.problems: list[str] = []
        self.jobs: dict[str, dict[int, str]] = {}  # job -> index -> "address:port"
        self.type: str | None = None
        self.index: int | None = None
        config = self._json(text)
        if config is not None:
            self._cluster(config.get("cluster"))
            self._task(config.get("task"))
            self._addresses()

    def _json(self, text: str) -> dict[str, Any] | None:
        import json

        try:
            config = json.loads(text)
        except ValueError as error:
            where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
            self.problems.append(f"it is not valid JSON{where}" + ("; JSON wants double quotes" if "'" in text else ""))
            return None
        if isinstance(config, dict):
            return config
        self.problems.append("it is no JSON object")
        return None

    def _cluster(self, cluster: Any) -> None:
        if cluster is None:
            return
        if not isinstance(cluster, dict):
            self.problems.append("its cluster is no JSON object")
            return
        for job, tasks in cluster.items():
            if isinstance(tasks, list):
                self.jobs[job] = dict(enumerate(tasks))
            elif isinstance(tasks, dict) and all(str(index).isdecimal() for index in tasks):
                self.jobs[job] = {int(index): address for index, address in tasks.items()}
            else:
                self.problems.append(f'its cluster\'s "{job}" is no list of addresses')
                continue
            if job not in JOBS:  # "master" was TensorFlow 1's word for the chief
                self.problems.append(f'its cluster has a job "{job}"; TensorFlow knows {", ".join(JOBS)}')
            if job in ("chief", "evaluator") and len(tasks) > 1:
                self.problems.append(f"its cluster has {len(tasks)} {job}s; there can be one")

    def _task(self, task: Any) -> None:
        if task is None and not any(self.jobs.values()):
            return  # TensorFlow then trains on this machine alone
        if not isinstance(task, dict) or "type" not in task or "index" not in task:
            if any(self.jobs.values()):
                self.problems.append('it does not say which task this process is ("task": {"type": ..., "index": ...})')
            return
        kind, index = task["type"], task["index"]
        self.type = kind if isinstance(kind, str) else None
        self.index = int(index) if isinstance(index, (int, str)) and str(index).strip().isdecimal() else None
        if self.index is None:
            self.problems.append("its task's index is no number from 0 on")
        if self.type is None:
            self.problems.append("its task's type is no text")
        elif self.jobs and self.type not in self.jobs and self.type != "evaluator":
            self.problems.append(f'this task is a "{self.type}", and the cluster has none')
        elif self.index is not None and self.type in self.jobs and self.index not in self.jobs[self.type]:
            count = len(self.jobs[self.type])
            many = f"{count} of them" if count != 1 else "one of them"
            self.problems.append(f"this task is {self.type} {self.index}, and the cluster has {many} (counted from 0)")

    def _addresses(self) -> None:
        seen: dict[str, str] = {}
        hosts: set[bool] = set()
        for job, tasks in self.jobs.items():
            for index, address in tasks.items():
                label = f"{job} {index}"
                parts = split(address) if isinstance(address, str) else None
                if parts is None:
                    self.problems.append(f"the address of {label} is not of the form host:port")
                    continue
                hosts.add(re.fullmatch(LOOPBACK, parts[0]) is not None)
                if address in seen:
                    self.problems.append(f"{seen[address]} and {label} have the same address")
                seen.setdefault(address, label)
        if len(hosts) > 1:
            self.problems.append("some of its addresses are this machine's own (localhost), which no other machine can reach")


def split(address: str) -> tuple[str, int] | None:
    """Host and port of "host:port" or "[IPv6]:port"; None if it is none."""
    match = re.fullmatch(r"(\[[0-9a-fA-F:.%\w]+\]|[^\s:/\[\]]+):(\d{1,5})", address)
    if match is None or not 0 < int(match[2]) < 65536:
        return None
    return match[1].strip("[]"), int(match[2])


def _reach(host: Host, parsed: _Parsed) -> tuple[int | None, tuple[Unreachable, ...]]:
    """Connect to the other tasks at the same time. Who refuses is there: its task has only not begun to listen."""
    import threading

    others = [
        (f"{job} {index}", parts)
        for job, tasks in parsed.jobs.items()
        for index, address in tasks.items()
        if (job, index) != (parsed.type, parsed.index) and isinstance(address, str) and (parts := split(address))
    ][:TESTED]
    if not others:
        return None, ()
    limit = min(CONNECT_SECONDS, host.remaining() / 4)
    answers: dict[str, str | None] = {}

    def ask(task: str, address: str, port: int) -> None:
        answers[task] = host.connect(address, port, limit)

    threads = [threading.Thread(target=ask, args=(task, *parts), daemon=True) for task, parts in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(limit + 0.5)  # a name server that does not answer takes longer than any connection
        limit = 0.0 if thread.is_alive() else limit
    told = {task: answers.get(task, "timed out") for task, _ in others}
    missing = tuple(Unreachable(task=task, reason=reason) for task, reason in told.items() if reason not in (None, "refused"))
    return len(others), missing


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
