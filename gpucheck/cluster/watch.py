"""Workers that depend on each other: wait until all are done, one is gone or nobody goes on, and say whose doing it was."""

import re
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from gpucheck.cluster.reach import MUTE, OTHER
from gpucheck.host import Child, Ending
from gpucheck.model import WorkerFault
from gpucheck.probes._last_words import last_words

LAST = "fit"  # the last stage; nothing depends on it
FIT_SECONDS = 20.0
ASK_SECONDS = 5.0  # between two looks at who listens, while a cluster forms
POLL_SECONDS = 0.1
# TensorFlow's words for a peer that went away. Who says them is not the one who failed.
LOST = re.compile(
    r"(?i)UnavailableError|AbortedError|CancelledError|DeadlineExceeded|unhealthy|heartbeat"
    r"|connection reset|socket closed|failed to connect|barrier"
)
TASK = re.compile(r"/job:(\w+)/(?:replica:\d+/)?task:(\d+)")


class Clock(NamedTuple):
    """What tells the time and lets it pass."""

    now: Callable[[], float] = time.monotonic  # in seconds
    sleep: Callable[[float], object] = time.sleep


SYSTEM_CLOCK = Clock()


class Limits(NamedTuple):
    """How long is waited, in seconds."""

    whole: float  # for everything
    quiet: float  # in which somebody must go on
    imported: float  # the same, while somebody has not yet imported TensorFlow
    joined: bool  # the others may come as late as the whole limit allows
    grace: float = 5.0  # for the others, when one has ended badly: they find out and say so


class Watched(NamedTuple):
    """What was seen."""

    late: bool  # the whole limit came
    listening: dict[str, str | None]  # what came of asking each task, None: TensorFlow answers, or did; empty: none was asked


class Worker:
    """One worker that this run started, and what is known of it."""

    def __init__(self, name: str, child: Child, clock: Clock = SYSTEM_CLOCK) -> None:
        self.name, self.child, self._clock = name, child, clock
        self.stages: dict[str, Any] = {}
        self.moved = self._clock.now()  # when it last went on
        self.over: float | None = None  # when it ended or came to its last stage
        self.still_seconds = 0.0  # when it was stopped
        self.ending = Ending(False, "running", None)
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        self.child.until(LAST)
        self.over = self._clock.now()

    def look(self) -> None:
        """Take in what it reported. How far it is, is the number of stages that it has behind itself."""
        stages = self.child.stages()
        if len(stages) != len(self.stages):
            self.moved = self._clock.now()
        self.stages = stages

    @property
    def trained(self) -> bool:
        """Whether it trained, and its account is good."""
        return "train" in self.stages and self.stages["train"]["problem"] is None

    @property
    def stopped(self) -> bool:
        """Whether it did not end of its own accord."""
        return self.ending.how in ("timed out", "could not be killed")

    def stop(self) -> None:
        """End it if it is at work."""
        self.still_seconds = self._clock.now() - self.moved
        self.child.until(LAST, within=0.0)
        self._thread.join()
        self.ending = self.child.end()


def watch(
    workers: list[Worker], limits: Limits, listening: Callable[[], dict[str, str | None]], clock: Clock = SYSTEM_CLOCK
) -> Watched:
    """Wait, and end what is then still at work.

    Args:
        workers: started.
        limits: how long.
        listening: who of the tasks answers (see ``_reach.converse``); asked where the cluster does not form.
        clock: by which is waited.
    """
    began = asked = clock.now()
    answers: dict[str, str | None] = {}
    ended: float | None = None
    while True:
        now = clock.now()
        for worker in workers:
            worker.look()
        moved = max(worker.moved for worker in workers)
        late = now - began > limits.whole
        forming = not any("connect" in worker.stages for worker in workers)
        if ended is None and any(worker.over is not None and not worker.trained for worker in workers):
            ended = now
        over = (
            late
            or (ended is not None and now - ended > limits.grace)
            or all(worker.over is not None for worker in workers)
            or (now - moved > _patience(workers, limits) and not (forming and limits.joined))
        )
        if forming and (over or (limits.joined and now - asked > ASK_SECONDS)):
            asked = now
            answers = {task: _best(answers.get(task, ""), said) for task, said in listening().items()}
        if over:
            break
        clock.sleep(POLL_SECONDS)
    for worker in workers:
        worker.look()
    for worker in workers:
        worker.stop()
    return Watched(late, answers)


def _best(before: str | None, said: str | None) -> str | None:
    """Who came and is gone was waited for no longer than we wait; who came and is mute hangs, and ends with its own limit."""
    if before == MUTE and said is not None:
        return MUTE
    return None if before is None and said != MUTE else said


def _patience(workers: list[Worker], limits: Limits) -> float:
    if all(worker.trained for worker in workers):
        return FIT_SECONDS
    return limits.quiet if all("versions" in worker.stages for worker in workers) else max(limits.quiet, limits.imported)


def faults(workers: list[Worker], watched: Watched) -> list[WorkerFault]:
    """By whom the job failed; empty: it did not. Who only lost the others is named where nobody else can be."""
    bad = [worker for worker in workers if not worker.trained]
    ended = sorted((worker for worker in bad if not worker.stopped), key=lambda worker: worker.over or 0.0)
    told = [_told(worker) for worker in ended]
    own = [fault for fault in told if not lost(fault.reason)]
    if own or not bad:
        return own
    still = [worker for worker in bad if worker.stopped]
    if still:
        return _still(still, workers, watched)
    names = [worker.name for worker in workers]
    gone = {task: fault for fault in told for task in _tasks(fault.reason) if task not in names or len(names) > 1}
    return [replace(fault, worker=task, how="lost") for task, fault in gone.items()] or told[:1]


def _told(worker: Worker) -> WorkerFault:
    """How a worker that ended of its own accord failed, in what words, and at which stage."""
    failed = worker.stages.get("failed")
    if failed is not None:
        taken = "could not start grpc server" in failed["problem"].lower()
        how = "port taken" if taken else "raised"
        return WorkerFault(worker=worker.name, how=how, reason=failed["problem"], stage=failed["stage"])
    if "train" in worker.stages:
        return WorkerFault(worker=worker.name, how="raised", reason=worker.stages["train"]["problem"], stage="verify")
    for stage, what in (("import", "TensorFlow"), ("keras", "Keras")):
        value = worker.stages.get(stage)
        if value is not None and not value["imported"]:
            reason = f"{what} could not be imported: {value['error']}"
            return WorkerFault(worker=worker.name, how="raised", reason=reason, stage=stage)
    how = "raised" if "crashed" in worker.stages else "ended"
    return WorkerFault(
        worker=worker.name,
        how=how,
        reason=worker.ending.how,
        stage=worker.ending.stage,
        last_words=last_words(worker.child),
    )


def _still(still: list[Worker], workers: list[Worker], watched: Watched) -> list[WorkerFault]:
    """Of those that had to be stopped, the ones that kept the others waiting: who never listened, or had come least far.

    Where the cluster does not form, nobody is to blame who waits for it in a process of this run, and can be connected to.
    """
    absent = {task: said for task, said in watched.listening.items() if said is not None}
    forming = all(worker.ending.stage == "connect" for worker in still)
    mute = [worker for worker in still if absent.get(worker.name) == MUTE]  # TensorFlow's server answers from threads of its own
    if mute and forming:
        reason = "its process on this machine hangs: its port takes connections and does not answer"
        return [WorkerFault(worker=worker.name, how="stood still", reason=reason, stage="connect") for worker in mute]
    if absent and forming:
        return [_absent(task, said) for task, said in absent.items()]
    others = [task for task in watched.listening if task not in {worker.name for worker in workers}]
    if others and forming:
        reason = "came, and yet the cluster did not form"
        return [WorkerFault(worker=task, how="apart", reason=reason, stage="connect") for task in others]
    least = min(len(worker.stages) for worker in still)
    behind = [worker for worker in still if len(worker.stages) == least or len(still) < len(workers)]
    how = "late" if watched.late and not (watched.listening and forming) else "stood still"
    found = []
    for worker in behind:
        reason = f"stood still for {worker.still_seconds:.0f} s"
        if watched.late:
            reason = "not done in time" if how == "late" else "all others listen, and yet the cluster did not form"
        found.append(WorkerFault(worker=worker.name, how=how, reason=reason, stage=worker.ending.stage))
    return found


def _absent(task: str, said: str) -> WorkerFault:
    """The fault of a task that does not answer as TensorFlow does."""
    how = {OTHER: "other program", MUTE: "no answer"}.get(said, "missing")
    reason = f"did not come ({'nobody listens on its address' if said == 'refused' else said})" if how == "missing" else said
    return WorkerFault(worker=task, how=how, reason=reason, stage="connect")


def lost(words: str | None) -> bool:
    """Whether a worker only tells that another one went away."""
    return words is not None and LOST.search(words) is not None


def _tasks(words: str) -> list[str]:
    """The tasks that TensorFlow names: "worker 1" for /job:worker/replica:0/task:1."""
    return list(dict.fromkeys(f"{job} {index}" for job, index in TASK.findall(words)))
