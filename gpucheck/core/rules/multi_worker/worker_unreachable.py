"""Another worker of the cluster does not respond.

Symptom:
    CreateSession still waiting for response from worker: /job:worker/replica:0/task:3
    UNAVAILABLE: failed to connect to all addresses
    UnavailableError: Collective ops is aborted by: recvmsg:Connection reset by peer
    DEADLINE_EXCEEDED: Barrier timed out. Some timed out task names: /job:worker/replica:0/task:1
    - Training that hangs before its first step
Cause:
    Synchronous training begins when every task in TF_CONFIG has responded. One was not started or has died, its address belongs
    to another machine, another program or to none, a firewall drops the connection, or NCCL and gRPC chose a network that the
    machines don't share.
    gpucheck --full trains two workers on this machine, so if one of them hangs, the cause is on this machine. With
    --strategy multi_worker_mirrored, run on each worker, the workers that TF_CONFIG, Slurm or Kubernetes lists train together,
    and gpucheck reports those that don't join before --timeout.
Verify:
    gpucheck --full on each worker connects to all others; gpucheck --strategy multi_worker_mirrored on all of them trains.
Unless:
    The other machine has not been started yet.
Example:
    request.level = 2
    cluster = {"configured": true, "task_type": "worker", "task_index": 0, "jobs": {"worker": 2}, "worker_count": 2, "tested": 1, "unreachable": [{"task": "worker 1", "reason": "timed out"}]}
    -> worker 1 in TF_CONFIG can't be reached from here: timed out.
References:
    https://www.tensorflow.org/tutorials/distribute/multi_worker_with_keras
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
"""

import re
from collections.abc import Callable

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.training_outcomes import Failure, TrainingOutcomes
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, WorkerFault, rule, saw
from gpucheck.core.model.wording import listing, short
from gpucheck.core.probes.cluster import Cluster
from gpucheck.core.probes.tpu_resolver import TpuResolver
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import other_interface
from gpucheck.core.rules.multi_worker._address import Address, address_in

CONNECTION_LOST = (
    r"(?i)failed to connect to (?:all addresses|remote host)|connections? to all backends|heartbeat timeout|barrier timed out"
)
# See WorkerFault.how. Another program at a worker's address comes first, because it alone keeps the cluster from forming.
UNRESPONSIVE = ("other program", "no answer", "not connected", "stalled", "missing", "lost")
_ALL_PORTS = Fix(text="Allow all TCP ports between the machines of the job: NCCL chooses new ones at each start")
_OF_NCCL = r"NCCL|socketStartConnect"
_STALLED = (
    Fix(text="Check that worker's last output, and its processes: one that waits for a disk or a GPU has state D"),
    Fix.look("If the workers train on GPUs, make NCCL print what it waits for", "export NCCL_DEBUG=INFO"),
)
# Patterns of lines about the other worker, the most specific first.
_PATTERNS = {
    "port taken": r"(?i)address already in use|could not start grpc server",
    "ssh": r"\bssh: connect to host",
    "Open MPI": r"unable to complete a TCP connection",
    "refused": r"(?i)\brefused\b",
    "left": r"(?i)socket closed|connection reset|endpoint read failed|transport closed|unexpectedly disconnected|heartbeat|lost comm"
    r"|failed on SocketImpl|from remote target|polled from|detected fatal errors|different (?:device )?incarnation|preemption in a connected",
    "missing": r"(?i)still waiting for response|barrier timed out|timed out task",
}


@rule(scope=Scope.HOST, explains=("nccl-failed", "training-failed", "training-crashed"))
def check(
    cluster: Cluster | None, resolver: TpuResolver | None, log_causes: LogCauses, context: Context
) -> Finding | Skip | None:
    """Report a failed connection (with --full), a failed run of several workers, or a log with such an error."""
    outcomes = log_causes.outcomes
    if cluster is not None and cluster.unreachable:
        return _not_reached(cluster, context)
    faulty = _faulty_run(outcomes, context)
    if faulty is not None:
        return faulty
    failed = log_causes.failed_run("worker-unreachable", lambda run: run.strategy == "multi_worker_mirrored")
    if failed is not None:
        return _failed(failed, context)
    cause = log_causes.cause("worker-unreachable")
    taken = cause is not None and cause.events[0].kind == "worker-address-in-use"
    of_tpu = outcomes.log is not None and outcomes.log.of_tpu
    on_tpu = of_tpu or (resolver is not None and resolver.tried)  # workers of a TPU are reported as tpu-unreachable
    if cause is not None and (taken or not on_tpu):
        return log_causes.repaired(cause, repairs, context)
    if cluster is not None and cluster.tested is None and cluster.worker_count > 1:
        return Skip("connections to the other workers in TF_CONFIG are tested only with --full")
    return None if cluster is not None else outcomes.skip


def _not_reached(cluster: Cluster, context: Context) -> Finding:
    missing = cluster.unreachable
    return Finding(
        summary=f"{listing([task.task for task in missing])} in TF_CONFIG can't be reached from here:"
        f" {listing(list(dict.fromkeys(task.reason for task in missing)))}.",
        evidence=saw(cluster, "unreachable", "tested"),
        fix=repairs(context),
        affects=tuple(task.task for task in missing),
    )


def _failed(failure: Failure, context: Context) -> Finding:
    mismatch = failure.run is not None and _address_mismatch(failure.run.stage, failure.run.reason)
    summary = "All workers started, but then one could not be reached at its address."
    return Finding(
        summary=summary if mismatch else f"A worker does not respond: {failure.text}.",
        evidence=failure.evidence,
        fix=repairs(context, how="not connected" if mismatch else "", text=failure.text),
        affects=failure.affects,
    )


def _faulty_run(outcomes: TrainingOutcomes, context: Context) -> Finding | None:
    """Report workers that did not respond, or could not listen."""
    for place, run in enumerate(outcomes.runs):
        unresponsive = [fault for how in UNRESPONSIVE for fault in run.worker_faults if fault.how == how]
        faults = unresponsive or [fault for fault in run.worker_faults if fault.how == "port taken"]
        if faults:
            workers = [fault.worker for fault in faults if fault.how == faults[0].how]
            return Finding(
                summary=f"{listing(workers)} of {run.strategy} {_state(faults[0], many=len(workers) > 1)}.",
                evidence=outcomes.saw_run(place, "worker_faults", "cluster"),
                fix=repairs(context, how=_how(faults[0]), text=faults[0].reason),
                affects=tuple(fault.worker for fault in faults),
            )
    return None


def _state(fault: WorkerFault, *, many: bool) -> str:
    """Describe the fault of a worker, or of several with the same fault."""
    are, each = ("are", "each") if many else ("is", "its")
    lost_later = fault.how == "lost" and fault.stage not in (None, "connect")
    if fault.how == "port taken":
        return f"can't listen on its address, so no other worker reaches it: {short(fault.reason)}"
    if fault.how == "other program":
        return f"{are} missing: another program responds at {each} address"
    if fault.how == "not connected":
        return "started, but the cluster did not form"
    if fault.how == "lost" and _address_mismatch(fault.stage, fault.reason):
        return "started, but then could not be reached at the address that this worker uses for it"
    if lost_later:
        return f'ended or stopped responding after all workers had connected, at the stage "{fault.stage}"'
    where = f" in stage {fault.stage}" if fault.how == "stalled" and fault.stage else ""
    return f"{'do' if many else 'does'} not respond: {short(fault.reason)}{where}"


def _how(fault: WorkerFault) -> str:
    """Return the argument ``how`` of the repairs."""
    if fault.how != "lost" or fault.stage in (None, "connect"):
        return fault.how
    return "not connected" if _address_mismatch(fault.stage, fault.reason) else "left"


def _address_mismatch(stage: str | None, reason: str | None) -> bool:
    """Whether all workers connected to the leader, but one was then unreachable at its own address."""
    return stage == "meet" and re.search(CONNECTION_LOST, reason or "") is not None


def repairs(
    context: Context, *, how: str = "", address: str = "", text: str = "", interface: str = "", own: str = "", asked: str = ""
) -> Fixes:
    """Make the worker respond.

    Args:
        context: what is known about the machine.
        how: the fault: as ``WorkerFault.how``, or "left" after it had connected; empty: derived from ``text``.
        address: the worker's address, or its task.
        text: the line that reports it.
        interface: the network interface that NCCL uses.
        own: its address.
        asked: the value of NCCL_SOCKET_IFNAME.
    """
    at = address_in(address, text)
    how = how or next((how for how, pattern in _PATTERNS.items() if re.search(pattern, text)), "")
    if re.search(_OF_NCCL, text):
        fixes = [*other_interface(interface, asked, at.host), _ALL_PORTS]
        network = own.rpartition(".")[0]
        shared = network and not interface.startswith("docker") and network == at.host.rpartition(".")[0]
        yield from reversed(fixes) if shared else fixes
    elif how in ("other program", "no answer"):
        yield at.listening("its machine")
        yield from (at.start(),) if how == "other program" else _STALLED
    elif how == "not connected":
        yield Fix(text="Give every worker the same cluster in TF_CONFIG, with the same addresses in the same order")
        yield Fix(text="Every worker must reach every other: on the reported one, test this one's address with nc -zv HOST PORT")
        yield at.start()
    elif how in _REPAIRS:
        yield from _REPAIRS[how](context, at)
    else:
        yield from (at.open(), at.start(), at.test(context)) if at.port else (at.test(context), at.open(), at.start())
        yield from _platform(context)


def _missing(context: Context, at: Address) -> Fixes:
    """Yield the fixes for a worker that has not started yet."""
    if context.interpreter is not None:  # gpucheck itself waits for it
        yield Fix(
            text="Start gpucheck on every worker at about the same time; --timeout sets how long it waits for the other workers",
            command="gpucheck --strategy multi_worker_mirrored --timeout 300",
        )
    else:
        yield at.start()
    yield at.test(context)
    yield at.open()
    yield from _platform(context)


def _refused(context: Context, at: Address) -> Fixes:
    """Yield the fixes for a machine that responds, although no program listens on the port."""
    yield at.start()
    yield Fix(text=f"If it runs, compare the address and port that it listens on with {at.host or 'HOST'}:{at.port or 'PORT'}")
    yield from _platform(context)
    yield at.test(context)


def _disconnected(context: Context, at: Address) -> Fixes:
    """Yield the fixes for a worker that was connected before, so the network between the machines works."""
    yield Fix(
        text=f"Read the last output of {at.task or 'that worker'}: it was killed (sudo dmesg | grep -i oom), ended, or hangs",
        needs=("sudo",),
    )
    yield at.test(context).after("If it is still running:")


def _address_in_use(context: Context, at: Address) -> Fixes:
    """Yield the fixes for a worker whose address another program uses."""
    yield at.listening("this machine")
    if not context.excludes(framework="tensorflow"):
        yield Fix(text="If it is another worker of this job, give each worker its own index in TF_CONFIG")


def _platform(context: Context) -> Fixes:
    """Yield the fixes for the platform that assigns the workers' addresses."""
    pods = Fix(
        text="Give the workers a headless Service, so that each pod's name resolves to it, and allow the port in NetworkPolicies"
    )
    yield from context.only(pods, container="kubernetes")
    if context.kinds["scheduler"] == "slurm":
        yield Fix.look("List the names of the job's machines", "scontrol show hostnames")


_SSH = Fix(
    text="Start sshd on the named machine and port, through which mpirun starts its ranks there: /usr/sbin/sshd -p PORT; and let this"
    " user log in without a password"
)
_MPI = Fix(
    text="Select the network that the machines share, instead of eth0: mpirun --mca oob_tcp_if_include eth0"
    " --mca btl_tcp_if_include eth0"
)
_REPAIRS: dict[str, Callable[[Context, Address], Fixes]] = {
    "stalled": lambda context, at: iter(_STALLED),
    "missing": _missing,
    "ssh": lambda context, at: iter((_SSH, at.test(context))),
    "Open MPI": lambda context, at: iter((_MPI, *_platform(context))),
    "refused": _refused,
    "left": _disconnected,
    "port taken": _address_in_use,
}
