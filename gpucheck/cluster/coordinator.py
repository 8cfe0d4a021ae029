"""Training with a parameter server: one process of this machine that is coordinator, workers and server at the same time."""

from typing import Any

import msgspec

from gpucheck.cluster import watch as _watch
from gpucheck.cluster.members import HERE
from gpucheck.cluster.watch import Worker
from gpucheck.cluster.workers import cannot, limits_of, sentence, settings, status
from gpucheck.host import Host
from gpucheck.model import TrainingRun

STRATEGY = "parameter_server"
WORKERS = 2
NOTE = f"{WORKERS} workers and a parameter server in one process of this machine, on the CPU"


def train(host: Host, framework: dict[str, Any]) -> TrainingRun:
    """Start the process, watch it, and put its account into a training run; arguments as for ``_workers.train``."""
    plain = {
        "strategy": STRATEGY,
        "devices": ("CPU:0",),
        "replicas": WORKERS,
        "precision": "float32",
        "cluster": HERE,
        "note": NOTE,
    }
    backend = (framework.get("keras") or {}).get("backend")
    if backend != "tensorflow":
        return msgspec.convert({**plain, "status": "skipped", "reason": cannot(backend)}, TrainingRun)
    addresses = [f"127.0.0.1:{host.free_port()}" for _ in range(WORKERS + 1)]
    config = {"cluster": {"worker": addresses[:WORKERS], "ps": addresses[WORKERS:]}}
    child = host.child("worker", settings(host, STRATEGY, config, "coordinator", ()), limit=host.remaining())
    worker = Worker("coordinator", child)
    faults = tuple(_watch.faults([worker], _watch.watch([worker], limits_of(host, framework, joined=False), dict)))
    fitted = worker.stages.get("fit") or {}
    account = {name: value for name, value in worker.stages.get("train", {}).items() if name != "problem"}
    told = {
        "status": status(faults),
        "reason": sentence(faults),
        "stage": faults[0].stage if faults else None,
        "fit_verified": fitted.get("verified"),
        "fit_problem": fitted.get("problem"),
        "worker_faults": faults,
    }
    return msgspec.convert({**plain, **account, **told}, TrainingRun, from_attributes=True)
