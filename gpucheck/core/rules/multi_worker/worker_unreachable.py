"""Another worker of the cluster does not respond.

Symptom:
    CreateSession still waiting for response from worker: /job:worker/replica:0/task:3
    UNAVAILABLE: failed to connect to all addresses
    UnavailableError: Collective ops is aborted by: recvmsg:Connection reset by peer
    DEADLINE_EXCEEDED: Barrier timed out. Some timed out task names: /job:worker/replica:0/task:1
    Training that stands still before its first step
Cause:
    Synchronous training begins when every task of TF_CONFIG has answered. One was not started or has died, its address leads to
    another machine, another program or to none, a firewall drops the connection, or NCCL and gRPC chose a network that the
    machines don't share.
    gpucheck --full trains two workers on this machine, so one that stands still there has a cause on this machine; with
    --strategy multi_worker_mirrored, typed on each worker, the workers that TF_CONFIG, Slurm or Kubernetes names train together,
    and whoever does not come before --timeout is named.
Fix:
    1. Test the connection from this machine, with the address that TF_CONFIG gives the task
       ? nc -zv HOST PORT
    2. Open the port on that machine: sudo ufw allow PORT/tcp, or sudo firewall-cmd --add-port=PORT/tcp
       needs: sudo
    3. Start the program on every worker, and read the output of the one that does not respond
    4. Another program answers on its address, or an earlier run holds it: end that program
    5. See which program it is, on that machine
       ? sudo ss -ltnp | grep PORT
    6. Kubernetes: one headless Service for the workers' names; between pods without TF_CONFIG, gpucheck uses port 8470, which a
       NetworkPolicy must allow. Slurm: scontrol show hostnames gives the names
Verify:
    gpucheck --full on each worker connects to all others; gpucheck --strategy multi_worker_mirrored on all of them trains.
Unless:
    The other machine has not been started yet.
Example:
    request.level = 2
    cluster = {"configured": true, "task_type": "worker", "task_index": 0, "jobs": {"worker": 2}, "worker_count": 2, "tested": 1, "unreachable": [{"task": "worker 1", "reason": "timed out"}]}
    -> worker 1, which TF_CONFIG names, can't be reached from here: timed out.
References:
    https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
"""

import re

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.tpu_state import TpuState
from gpucheck.core.combiners.training_outcomes import Failure, TrainingOutcomes
from gpucheck.core.logs.events import Kind
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, WorkerFault, saw
from gpucheck.core.model.plugin import rule
from gpucheck.core.probes.cluster import Cluster
from gpucheck.core.repairs.wording import listing, short

GONE = r"(?i)failed to connect to (?:all addresses|remote host)|connections? to all backends|heartbeat timeout|barrier timed out"
FIX = (
    Fix(text="Test the connection from this machine, with the address that TF_CONFIG gives that task: nc -zv HOST PORT"),
    Fix(text="Open the port on that machine: sudo ufw allow PORT/tcp, or sudo firewall-cmd --add-port=PORT/tcp", needs=("sudo",)),
    Fix(text="Start the program on every worker, and read the output of the one that does not respond"),
)
# See WorkerFault.how; for whom somebody else answers comes first, since that alone keeps the others from coming together.
SILENT = ("other program", "no answer", "apart", "stood still", "missing", "lost")
STILL = (
    Fix(text="Check the last output of that worker, and its processes: one that waits for a disk or a GPU has state D"),
    Fix(text="If the workers train on GPUs, make NCCL print what it waits for", command="export NCCL_DEBUG=INFO", kind="look"),
)
MISSING = (
    Fix(
        text="Start it on every worker at about the same time; --timeout sets how long it waits for the others",
        command="gpucheck --strategy multi_worker_mirrored --timeout 300",
    ),
    *FIX[:2],
)
LISTENS = Fix(
    text="Find the listening program on its machine: sudo ss -ltnp | grep PORT; end it, or give TF_CONFIG another port",
    needs=("sudo",),
)
APART = (
    Fix(text="Give every worker the same cluster in TF_CONFIG, with the same addresses in the same order"),
    Fix(text="Every worker has to reach every other: from the named one, with the address of this one: nc -zv HOST PORT"),
    FIX[-1],
)
# It was there, and is gone or mute: what is between the machines has carried it so far.
LEFT = (
    Fix(text="Read the last output of that worker: it was killed (sudo dmesg | grep -i oom), ended, or hangs", needs=("sudo",)),
    Fix(text="If it is still running, test from this machine whether it can be reached: nc -zv HOST PORT"),
)
WAYS = {
    "other program": (LISTENS, FIX[-1]),
    "no answer": (LISTENS, *STILL),
    "apart": APART,
    "stood still": STILL,
    "missing": MISSING,
}
TAKEN = (
    Fix(
        text="Find what listens on this worker's port, on this machine: sudo ss -ltnp | grep PORT; end it, if it is an earlier run",
        needs=("sudo",),
    ),
    Fix(text="If it is another worker of this job, give each worker its own index in TF_CONFIG"),
    *FIX[2:],
)


@rule(
    severity=Severity.ERROR,
    scope=Scope.HOST,
    explains=("nccl-failed", "training-failed", "training-crashed"),
)
def check(cluster: Cluster | None, tpu: TpuState | None, log_causes: LogCauses) -> Finding | Skip | None:
    """A connection that was tried (with --full), a run of several workers that failed so, or a log that says so."""
    outcomes = log_causes.outcomes
    if cluster is not None and cluster.unreachable:
        return _not_reached(cluster)
    faulty = _faulty_run(outcomes)
    if faulty is not None:
        return faulty
    failed = outcomes.failed_run(GONE, lambda run: run.strategy == "multi_worker_mirrored")
    if failed is not None:
        return _failed(failed)
    cause = log_causes.alarm("worker-unreachable")
    taken = cause is not None and cause.events[0].kind == Kind.WORKER_ADDRESS_IN_USE
    on_tpu = tpu is not None and tpu.at_work  # a TPU's workers are tpu-unreachable
    if cause is not None and (taken or not on_tpu):
        return log_causes.finding(cause, TAKEN if taken else FIX)
    if cluster is not None and cluster.tested is None and cluster.worker_count > 1:
        return Skip("the other workers of TF_CONFIG are only connected to with --full")
    return None if cluster is not None else outcomes.skip


def _not_reached(cluster: Cluster) -> Finding:
    missing = cluster.unreachable
    return Finding(
        summary=f"{listing([task.task for task in missing])}, which TF_CONFIG names, can't be reached from here:"
        f" {listing(list(dict.fromkeys(task.reason for task in missing)))}.",
        evidence=saw(cluster, "unreachable", "tested"),
        fix=FIX,
        affects=tuple(task.task for task in missing),
    )


def _failed(failure: Failure) -> Finding:
    mismatch = failure.run is not None and _address_mismatch(failure.run.stage, failure.run.reason)
    summary = "All workers started, but then one could not be reached at its address."
    return Finding(
        summary=summary if mismatch else f"A worker does not respond: {failure.text}.",
        evidence=failure.evidence,
        fix=APART if mismatch else FIX,
        affects=failure.affects,
    )


def _faulty_run(outcomes: TrainingOutcomes) -> Finding | None:
    """Workers that a run waited for in vain, or that could not listen."""
    for place, run in enumerate(outcomes.runs):
        silent = [fault for how in SILENT for fault in run.worker_faults if fault.how == how]
        faults = silent or [fault for fault in run.worker_faults if fault.how == "port taken"]
        if faults:
            alike = [fault.worker for fault in faults if fault.how == faults[0].how]
            return Finding(
                summary=f"{listing(alike)} of {run.strategy} {_state(faults[0], many=len(alike) > 1)}.",
                evidence=outcomes.saw_run(place, "worker_faults", "cluster"),
                fix=_fix(faults[0]),
                affects=tuple(fault.worker for fault in faults),
            )
    return None


def _state(fault: WorkerFault, *, many: bool) -> str:
    """What is wrong with the worker, or several that are alike in that."""
    are, each = ("are", "each") if many else ("is", "its")
    lost_later = fault.how == "lost" and fault.stage not in (None, "connect")
    if fault.how == "port taken":
        return f"can't listen on its address, so no other worker reaches it: {short(fault.reason)}"
    if fault.how == "other program":
        return f"{are} not there: another program responds on {each} address"
    if fault.how == "apart":
        return f"{are} there, but the cluster did not form"
    if fault.how == "lost" and _address_mismatch(fault.stage, fault.reason):
        return "started, but then could not be reached at the address that this worker has for it"
    if lost_later:
        return f'ended or stopped responding after all workers had connected, at the stage "{fault.stage}"'
    where = f" in stage {fault.stage}" if fault.how == "stood still" and fault.stage else ""
    return f"{'do' if many else 'does'} not respond: {short(fault.reason)}{where}"


def _fix(fault: WorkerFault) -> tuple[Fix, ...]:
    if fault.how == "port taken":
        return TAKEN
    if fault.how != "lost" or fault.stage in (None, "connect"):
        return WAYS.get(fault.how, FIX)
    return APART if _address_mismatch(fault.stage, fault.reason) else LEFT


def _address_mismatch(stage: str | None, reason: str | None) -> bool:
    """Whether all came, over the one address that everybody asks first, and then one was not where another looked for it."""
    return stage == "meet" and re.search(GONE, reason or "") is not None
