"""TF_CONFIG as TensorFlow reads it: the cluster, the task of this process, and all of their errors.

Sources: tensorflow/python/distribute of the TensorFlow 2.21.0 wheel, multi_worker_util.py (validation) and
cluster_resolver/tfconfig_cluster_resolver.py (reading).
"""

import re
from typing import Any, Literal, NamedTuple

JOBS = ("chief", "worker", "ps", "evaluator")
TRAINING_JOBS = ("chief", "worker")
MOST_DIGITS = 20  # of a task's number
LOOPBACK = r"localhost|127\.[\d.]+|::1|0\.0\.0\.0"


ProblemKind = Literal["json", "cluster", "job", "count", "task", "index", "address", "duplicate-address", "loopback"]


class Problem(NamedTuple):
    """An error in TF_CONFIG."""

    kind: ProblemKind  # what is wrong, for the correction
    text: str


class Parsed:
    """TF_CONFIG, and all of its errors."""

    def __init__(self, text: str) -> None:
        self.problems: list[Problem] = []
        self.jobs: dict[str, dict[int, str]] = {}  # job -> index -> "address:port"
        self.type: str | None = None
        self.index: int | None = None
        self.config = self._json(text)
        if self.config is not None:
            self._cluster(self.config.get("cluster"))
            self._task(self.config.get("task"))
            self._addresses()

    def addresses(self) -> dict[str, tuple[str, int]]:
        """Return host and port of every task with a valid address, by task name ("worker 3")."""
        return {
            f"{job} {index}": parts
            for job, tasks in self.jobs.items()
            for index, address in tasks.items()
            if isinstance(address, str) and (parts := split(address))
        }

    @property
    def task(self) -> str | None:
        """This process' own name ("worker 0"), if it has one."""
        return None if self.type is None or self.index is None else f"{self.type} {self.index}"

    def _report(self, kind: ProblemKind, text: str) -> None:
        self.problems.append(Problem(kind, text))

    def _json(self, text: str) -> dict[str, Any] | None:
        import json

        try:
            config = json.loads(text)
        except RecursionError:
            self._report("json", "it is not valid JSON: its brackets are nested too deeply")
            return None
        except ValueError as error:
            where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
            self._report("json", f"it is not valid JSON{where}" + ("; JSON requires double quotes" if "'" in text else ""))
            return None
        if isinstance(config, dict):
            return config
        self._report("json", "it is not a JSON object")
        return None

    def _cluster(self, cluster: Any) -> None:
        if cluster is None:
            return
        if not isinstance(cluster, dict):
            self._report("cluster", "its cluster is not a JSON object")
            return
        for job, tasks in cluster.items():
            if isinstance(tasks, list):
                self.jobs[job] = dict(enumerate(tasks))
            elif isinstance(tasks, dict) and all(_number(index) is not None for index in tasks):
                self.jobs[job] = {int(index): address for index, address in tasks.items()}
            else:
                self._report("cluster", f'its cluster\'s "{job}" is not a list of addresses')
                continue
            if job not in JOBS:  # "master" was TensorFlow 1's name for the chief
                self._report("job", f'its cluster has a job "{job}"; TensorFlow supports {", ".join(JOBS)}')
            if job in ("chief", "evaluator") and len(tasks) > 1:
                self._report("count", f"its cluster has {len(tasks)} {job}s; only one is allowed")

    def _task(self, task: Any) -> None:
        if task is None and not any(self.jobs.values()):
            return  # TensorFlow then trains only on this machine
        if not isinstance(task, dict) or "type" not in task or "index" not in task:
            if any(self.jobs.values()):
                self._report("task", 'it does not say which task this process is ("task": {"type": ..., "index": ...})')
            return
        kind, index = task["type"], task["index"]
        self.type = kind if isinstance(kind, str) else None
        self.index = _number(str(index)) if isinstance(index, (int, str)) else None
        if self.index is None:
            self._report("index", "its task's index is not a number from 0")
        if self.type is None:
            self._report("job", "its task's type is not a string")
        elif self.jobs and self.type not in self.jobs and self.type != "evaluator":
            self._report("job", f'this task is a "{self.type}", and the cluster has none')
        elif self.index is not None and self.type in self.jobs and self.index not in self.jobs[self.type]:
            count = len(self.jobs[self.type])
            many = f"{count} of them" if count != 1 else "one of them"
            self._report("index", f"this task is {self.type} {self.index}, and the cluster has {many} (counted from 0)")

    def _addresses(self) -> None:
        owners: dict[str, str] = {}
        hosts: set[bool] = set()
        for job, tasks in self.jobs.items():
            for index, address in tasks.items():
                label = f"{job} {index}"
                parts = split(address) if isinstance(address, str) else None
                if parts is None:
                    self._report("address", f"the address of {label} is not of the form host:port")
                    continue
                hosts.add(re.fullmatch(LOOPBACK, parts[0]) is not None)
                if address in owners:
                    self._report("duplicate-address", f"{owners[address]} and {label} have the same address")
                owners.setdefault(address, label)
        if len(hosts) > 1:
            self._report("loopback", "some of its addresses are loopback addresses (localhost), which no other machine can reach")


def _number(text: str) -> int | None:
    """Parse a task's number; None for anything else, such as thousands of digits, for which Python raises."""
    return int(text) if len(text) < MOST_DIGITS and text.strip().isdecimal() else None


def split(address: str) -> tuple[str, int] | None:
    """Split "host:port" or "[IPv6]:port" into host and port; None for another form."""
    match = re.fullmatch(r"(\[[0-9a-fA-F:.%\w]+\]|[^\s:/\[\]]+):(\d{1,5})", address)
    if match is None or not 0 < int(match[2]) < 65536:
        return None
    return match[1].strip("[]"), int(match[2])
