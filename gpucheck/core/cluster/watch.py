"""Supervision of workers that depend on each other, until all are done, one ends or none progresses; and those that failed."""

import re
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from gpucheck.core.child.messages import Crashed, Stage
from gpucheck.core.child.messages.frameworks import KerasImported, TensorFlowImported
from gpucheck.core.child.messages.training import Trained
from gpucheck.core.child.messages.workers import ClusterConnected, FitTried, VersionsRead, WorkerFailed
from gpucheck.core.cluster.reach import NO_ANSWER, OTHER_PROGRAM
from gpucheck.core.host import Child, Ending
from gpucheck.core.logs.last_words import last_words
from gpucheck.core.model import WorkerFault
from gpucheck.core.model.naming import WORKER

FIT_SECONDS = 20.0
ASK_SECONDS = 5.0  # between checks of which tasks listen, while a cluster forms
POLL_SECONDS = 0.1
# TensorFlow's messages about a lost peer. A worker that reports them is not the one that failed.
LOST = re.compile(
    r"(?i)UnavailableError|AbortedError|CancelledError|DeadlineExceeded|unhealthy|heartbeat"
    r"|connection reset|socket closed|failed to connect|barrier"
)
COORDINATION_RPC = "RPC: /tensorflow.CoordinationService/"


class Clock(NamedTuple):
    """A clock, replaceable in tests."""

    now: Callable[[], float] = time.monotonic  # in seconds
    sleep: Callable[[float], object] = time.sleep


SYSTEM_CLOCK = Clock()


class Limits(NamedTuple):
    """Time limits, in seconds."""

    total: float  # for everything
    quiet: float  # in which at least one worker must progress
    imported: float  # the same, until all have imported TensorFlow
    joined: bool  # the others may connect at any time within the total limit
    grace: float = 5.0  # for the others to report it, after one has failed


class Watched(NamedTuple):
    """The result of watching."""

    late: bool  # the total limit expired
    listening: dict[str, str | None]  # problem of each queried task; None: TensorFlow responds, or did; empty: no query


class Worker:
    """One worker that this run started, and its progress."""

    def __init__(self, name: str, child: Child, clock: Clock = SYSTEM_CLOCK) -> None:
        self.name, self.child, self._clock = name, child, clock
        self.moves = 0  # stages and steps that it has begun or ended
        self.moved = self._clock.now()  # when it last progressed
        self.over: float | None = None  # when it ended or reached its last stage
        self.still_seconds = 0.0  # without progress, when it was stopped
        self.ending = Ending(False, "running", None)
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        self.child.wait_for(FitTried)  # the last stage; nothing depends on it
        self.over = self._clock.now()

    def look(self) -> None:
        """Update its progress."""
        moves = self.child.progress_count()
        if moves != self.moves:
            self.moved = self._clock.now()
        self.moves = moves

    @property
    def trained(self) -> bool:
        """Whether it trained successfully."""
        result = self.child.message(Trained)
        return result is not None and result.run.reason is None

    @property
    def stage(self) -> str | None:
        """The stage or step in which it ended, for display."""
        return None if self.ending.stage is None else str(self.ending.stage)

    @property
    def stopped(self) -> bool:
        """Whether it had to be stopped."""
        return self.ending.late

    def stop(self) -> None:
        """Stop it if it is still running."""
        self.still_seconds = self._clock.now() - self.moved
        self.child.wait_for(FitTried, within=0.0)
        self._thread.join()
        self.ending = self.child.end()


def watch(
    workers: list[Worker], limits: Limits, listening: Callable[[], dict[str, str | None]], clock: Clock = SYSTEM_CLOCK
) -> Watched:
    """Wait for the workers, and stop those that still run afterwards.

    Args:
        workers: already started.
        limits: how long to wait.
        listening: returns which tasks respond (see ``reach.reach_grpc``); called if the cluster does not form.
        clock: for waiting.
    """
    began = queried = clock.now()
    answers: dict[str, str | None] = {}
    ended: float | None = None
    while True:
        now = clock.now()
        for worker in workers:
            worker.look()
        moved = max(worker.moved for worker in workers)
        late = now - began > limits.total
        forming = not any(worker.child.message(ClusterConnected) for worker in workers)
        if ended is None and any(worker.over is not None and not worker.trained for worker in workers):
            ended = now
        over = (
            late
            or (ended is not None and now - ended > limits.grace)
            or all(worker.over is not None for worker in workers)
            or (now - moved > _quiet_limit(workers, limits) and not (forming and limits.joined))
        )
        if forming and (over or (limits.joined and now - queried > ASK_SECONDS)):
            queried = now
            answers = {task: _latest_state(answers.get(task, ""), answer) for task, answer in listening().items()}
        if over:
            break
        clock.sleep(POLL_SECONDS)
    for worker in workers:
        worker.look()
    for worker in workers:
        worker.stop()
    return Watched(late, answers)


def _latest_state(before: str | None, answer: str | None) -> str | None:
    """Combine two answers of a task: that it responded, or was connected without responding, remains after it ends."""
    if before == NO_ANSWER and answer is not None:
        return NO_ANSWER
    return None if before is None and answer != NO_ANSWER else answer


def _quiet_limit(workers: list[Worker], limits: Limits) -> float:
    if all(worker.trained for worker in workers):
        return FIT_SECONDS
    imported = all(worker.child.message(VersionsRead) for worker in workers)
    return limits.quiet if imported else max(limits.quiet, limits.imported)


def faults(workers: list[Worker], watched: Watched, leader: str | None = None) -> list[WorkerFault]:
    """Return the workers responsible for the failure, else those that only lost the connection to another worker.

    Empty without a failure.

    Args:
        workers: those that this run started.
        watched: the result of watching them.
        leader: the task that all others report to.
    """
    bad = [worker for worker in workers if not worker.trained]
    ended = sorted((worker for worker in bad if not worker.stopped), key=lambda worker: worker.over or 0.0)
    reported = [_fault(worker) for worker in ended]
    own = [fault for fault in reported if not lost(fault.reason)]
    if own or not bad:
        return own
    still = [worker for worker in bad if worker.stopped]
    if still:
        return _unfinished_workers(still, workers, watched)
    names = [worker.name for worker in workers]
    gone = {task: fault for fault in reported for task in _tasks(fault.reason, leader) if task not in names or len(names) > 1}
    return [replace(fault, worker=task, how="lost") for task, fault in gone.items()] or reported[:1]


def _fault(worker: Worker) -> WorkerFault:
    """Return the fault of a worker that ended on its own: how, with which message, and at which stage."""
    child = worker.child
    failed, result = child.message(WorkerFailed), child.message(Trained)
    if failed is not None:
        taken = "could not start grpc server" in failed.problem.lower()
        how = "port taken" if taken else "raised"
        return WorkerFault(worker=worker.name, how=how, reason=failed.problem, stage=worker.stage)
    if result is not None and result.run.reason is not None:
        return WorkerFault(worker=worker.name, how="raised", reason=result.run.reason, stage="verify")
    for imported, what in ((child.message(TensorFlowImported), "TensorFlow"), (child.message(KerasImported), "Keras")):
        if imported is not None and not imported.outcome.imported:
            reason = f"{what} could not be imported: {imported.outcome.error}"
            return WorkerFault(worker=worker.name, how="raised", reason=reason, stage=imported.stage)
    return WorkerFault(
        worker=worker.name,
        how="raised" if child.message(Crashed) else "ended",
        reason=worker.ending.how,
        stage=worker.stage,
        last_words=last_words(child),
    )


def _unfinished_workers(still: list[Worker], workers: list[Worker], watched: Watched) -> list[WorkerFault]:
    """Return the stopped workers that kept the others waiting: those that never listened, or progressed least.

    If the cluster does not form, a worker of this run that waits for it and accepts connections is not at fault.
    """
    absent = {task: problem for task, problem in watched.listening.items() if problem is not None}
    forming = all(worker.ending.stage == Stage(ClusterConnected.stage) for worker in still)
    # TensorFlow's server responds from separate threads.
    unanswered = [worker for worker in still if absent.get(worker.name) == NO_ANSWER]
    if unanswered and forming:
        reason = "its process on this machine hangs: its port accepts connections but does not respond"
        return [WorkerFault(worker=worker.name, how="stalled", reason=reason, stage="connect") for worker in unanswered]
    if absent and forming:
        return [_absent(task, problem) for task, problem in absent.items()]
    others = [task for task in watched.listening if task not in {worker.name for worker in workers}]
    if others and forming:
        reason = "connected, but the cluster did not form"
        return [WorkerFault(worker=task, how="not connected", reason=reason, stage="connect") for task in others]
    least = min(worker.moves for worker in still)
    behind = [worker for worker in still if worker.moves == least or len(still) < len(workers)]
    how = "late" if watched.late and not (watched.listening and forming) else "stalled"
    reason = "not done in time" if how == "late" else "all others listen, but the cluster did not form"
    return [
        WorkerFault(
            worker=worker.name,
            how=how,
            reason=reason if watched.late else f"no progress for {worker.still_seconds:.0f} s",
            stage=worker.stage,
        )
        for worker in behind
    ]


def _absent(task: str, problem: str) -> WorkerFault:
    """Return the fault of a task that does not respond like TensorFlow."""
    how = {OTHER_PROGRAM: "other program", NO_ANSWER: "no answer"}.get(problem, "missing")
    reason = problem
    if how == "missing":
        reason = f"not reachable ({'nothing listens on its address' if problem == 'refused' else problem})"
    return WorkerFault(worker=task, how=how, reason=reason, stage="connect")


def lost(words: str | None) -> bool:
    """Whether a worker's message only reports that another one was lost."""
    return words is not None and LOST.search(words) is not None


def _tasks(words: str, leader: str | None) -> list[str]:
    """Return the tasks in TensorFlow's message: "worker 1" for /job:worker/replica:0/task:1; the leader for a bare RPC."""
    named = dict.fromkeys(f"{job} {index}" for job, index in re.findall(WORKER, words))
    return list(named) or ([leader] if leader is not None and COORDINATION_RPC in words else [])
