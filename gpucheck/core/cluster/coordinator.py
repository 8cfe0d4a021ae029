"""Training with a parameter server: one process of this machine is coordinator, workers and server at the same time."""

import json

from msgspec.structs import replace

from gpucheck.core.child.messages.workers import WorkerTask
from gpucheck.core.cluster import watch
from gpucheck.core.cluster.members import HERE
from gpucheck.core.cluster.result import joined_result
from gpucheck.core.cluster.timing import limits, why_not
from gpucheck.core.host import Child, Host
from gpucheck.core.model import TrainingRun

STRATEGY = "parameter_server"
WORKERS = 2
NOTE = f"{WORKERS} workers and a parameter server in one process of this machine, on the CPU"


def train(host: Host, framework: Child) -> TrainingRun:
    """Start the process, watch it, and return its result as a training run; arguments as for ``workers.train``."""
    run = TrainingRun(
        strategy=STRATEGY,
        devices=("CPU:0",),
        replicas=WORKERS,
        precision="float32",
        cluster=HERE,
        note=NOTE,
        status="skipped",
    )
    if (reason := why_not(framework)) is not None:
        return replace(run, reason=reason)
    addresses = [f"127.0.0.1:{host.free_port()}" for _ in range(WORKERS + 1)]
    config = json.dumps({"cluster": {"worker": addresses[:WORKERS], "ps": addresses[WORKERS:]}})
    task = WorkerTask(STRATEGY, config, "coordinator", (), host.request.log_device_placement)
    worker = watch.Worker("coordinator", host.child(task, limit=host.remaining()))
    watched = watch.watch([worker], limits(host, framework, joined=False), dict)
    return joined_result(run, [worker], tuple(watch.faults([worker], watched)))
