"""The plan: which jobs are trained, on which devices, in which precision. Strategies propose jobs; nothing runs here."""

from __future__ import annotations

import os

from gpucheck.core.child.messages.training import JOB_BYTES, Job
from gpucheck.core.training.strategies import load_all

FULL = 2  # the level --full
RECEIVE_SECONDS = 25.0  # the parent sends the free memory within a second, unless NVML hangs
MOST_REPLICAS = 8  # logical CPU devices without an accelerator, with --full


def replicas(everything: bool, cores: int | None = None) -> int:
    """Return the number of logical devices of a CPU: two, or one per core with ``everything``, at most eight.

    More devices than cores would only compete for them.
    """
    if not everything:
        return 2
    if cores is None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 2
    return max(2, min(cores, MOST_REPLICAS))


def plan(devices: list[str], level: int, requested: tuple[str, ...], every: bool = False) -> list[Job]:
    """Return the jobs, strategy by strategy.

    Args:
        devices: names of the devices that can be trained on.
        level: level of the request: 0 to 2.
        requested: names of strategies; empty: all of that level.
        every: whether to test every logical CPU device, not only the first.
    """
    jobs = []
    strategies = load_all()
    for name, strategy in strategies.items():
        if "tensorflow" not in strategy.backends or (name not in requested if requested else level < strategy.level):
            continue
        proposed = strategy.jobs(devices, level >= FULL, every)
        if isinstance(proposed, list):
            jobs += [Job(name, *job) for job in proposed]
        elif requested or strategy.report_if_skipped:
            jobs.append(Job(name, (), skip=proposed))
    reason = "not a strategy of tf.distribute; it is for Keras on JAX (--backend jax)"
    unsupported = [name for name in requested if name not in strategies or "tensorflow" not in strategies[name].backends]
    return jobs + [Job(name, (), skip=reason) for name in unsupported]


def usable(devices: list[str], free: dict[str, int]) -> tuple[list[str], dict[str, str]]:
    """Return devices with enough memory for the smoke job, and why each other one is excluded.

    ``free`` is by GPU number; a device whose free memory is unknown is usable.
    """
    fit, unfit = [], {}
    for device in devices:
        room = free.get(device.split(":")[1]) if device.startswith("GPU") else None
        if room is not None and room < JOB_BYTES:
            unfit[device] = f"only {room / 2**30:.1f} GiB of its memory is free; the smoke job needs {JOB_BYTES / 2**30:.1f} GiB"
        else:
            fit.append(device)
    return fit, unfit


def groups(jobs: list[Job]) -> list[list[Job]]:
    """Group jobs that may be trained at the same time: they differ only in the device, of one kind.

    The first device of a kind trains alone, with ``Model.fit``: it is the reference for the others.
    """
    together: dict[tuple[str, str, bool], list[Job]] = {}
    jobs_together: list[list[Job]] = []
    for job in jobs:
        kind = (job.devices[0].split(":")[0], job.precision, job.compiled)
        if job.strategy != "one_device" or kind not in together:
            jobs_together.append([job])
            if job.strategy == "one_device":
                together[kind] = []
            continue
        if not together[kind]:
            jobs_together.append(together[kind])
        together[kind].append(job)
    return jobs_together
