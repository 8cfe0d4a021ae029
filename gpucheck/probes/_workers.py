"""Multi-worker training: two processes on this machine, each with the TF_CONFIG of its place in the cluster."""

import json

from gpucheck.host import Child, Host
from gpucheck.model import Loss, TrainingRun
from gpucheck.probes import cuda

WORKERS = 2
LIMIT_SECONDS = 90.0


def train(host: Host) -> TrainingRun:
    """Start the workers, wait for all of them, and put their accounts together: one run, failed if any worker failed."""
    ports = [host.free_port() for _ in range(WORKERS)]
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    gpu_count = cuda.read(host).device_count or 0
    workers = [
        host.child("worker", json.dumps(_settings(cluster, index, gpu_count), sort_keys=True), limit=LIMIT_SECONDS)
        for index in range(WORKERS)
    ]
    accounts = [worker.until("train") for worker in workers]
    problems = [
        _problem(index, worker, account)
        for index, (worker, account) in enumerate(zip(workers, accounts, strict=True))
        if account is None or account["problem"]
    ]
    done = [account for account in accounts if account is not None]
    late = any(worker.end().how == "timed out" for worker in workers)
    chief = done[0] if done and not problems else {}
    if chief and any(account["weights"] != chief["weights"] for account in done):
        problems.append("the workers' weights differ")
    return TrainingRun(
        strategy="multi_worker_mirrored",
        devices=tuple(_device(index, gpu_count) for index in range(WORKERS)),
        workers=WORKERS,
        replicas=chief.get("replicas", WORKERS),
        precision="float32",
        status="timed_out" if late else "failed" if problems else "passed",
        reason="; ".join(problems) or None,
        stage=next((worker.end().stage for worker in workers if worker.end().stage), None),
        global_batch_size=chief.get("global_batch_size"),
        per_replica_batch_size=chief.get("per_replica_batch_size"),
        steps=chief.get("steps"),
        samples_per_second=chief.get("samples_per_second"),
        step_seconds=chief.get("step_seconds"),
        first_step_seconds=chief.get("first_step_seconds"),
        loss=Loss(**chief["loss"]) if chief else Loss(),
        losses_finite=chief.get("losses_finite"),
        loss_fell=chief.get("loss_fell"),
        gradients_reach_weights=chief.get("gradients_reach_weights"),
        replicas_equal=True if chief and not problems else None,
        worker_versions=tuple(account["versions"] for account in done if account.get("versions")),
    )


def _settings(cluster: dict[str, list[str]], index: int, gpu_count: int) -> dict[str, object]:
    return {
        "tf_config": {"cluster": cluster, "task": {"type": "worker", "index": index}},
        "gpu": index if gpu_count >= WORKERS else None,  # one GPU each, or none: two workers can't share one
    }


def _device(index: int, gpu_count: int) -> str:
    return f"GPU:{index}" if gpu_count >= WORKERS else "CPU:0"


def _problem(index: int, worker: Child, account: dict[str, str] | None) -> str:
    return f"worker {index}: {account['problem'] if account is not None else worker.end().how}"
