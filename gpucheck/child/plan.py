"""The plan: which jobs are trained, on which devices, in which precision. Strategies say what they want; nothing runs here."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

FULL = 2  # the level --full
NEEDED_BYTES = 3 << 29  # 1.5 GiB: context, cuDNN workspaces and the smoke model, measured 0.5 GiB on an H200
HEAR_SECONDS = 25.0  # the parent's word on free memory comes within a second; a hanging NVML delays it
REPLICAS = {False: 2, True: 8}  # logical CPU devices where the CPU is all there is, by whether everything is to be proven


def plan(devices: list[str], level: int, wanted: list[str], every: bool = False) -> list[dict[str, Any]]:
    """The runs, strategy by strategy.

    Args:
        devices: names of what can be trained on.
        level: of the request: 0 to 2.
        wanted: names of strategies; empty: all that belong to the level.
        every: whether every logical CPU device is one to prove, not only the first.

    Returns:
        One dict per run, see ``planned``.
    """
    runs = []
    for name in strategies():
        module = importlib.import_module("gpucheck.strategies." + name)
        if wanted and name not in wanted:
            continue
        if level < module.LEVEL and name not in wanted:
            continue
        jobs = module.jobs(devices, level >= FULL, every)
        if isinstance(jobs, str):
            if name in wanted or name != "tpu":
                runs.append(skipped(name, (), jobs))
            continue
        runs += [planned(name, *job) for job in jobs]
    reason = "not a strategy of tf.distribute; it belongs to Keras on JAX (--backend jax)"
    return runs + [skipped(name, (), reason) for name in wanted if name not in strategies()]


def strategies() -> list[str]:
    """Names of the strategies: the files of their folder."""
    package = importlib.import_module("gpucheck.strategies")
    order = {"one_device": 0, "mirrored": 1}
    return sorted((item.name for item in pkgutil.iter_modules(package.__path__)), key=lambda name: (order.get(name, 9), name))


def planned(strategy: str, devices: tuple[str, ...], precision: str, compiled: bool = False) -> dict[str, Any]:
    """One run to be trained.

    Returns:
        ``strategy``, ``devices``, ``precision``, ``compiled``, ``skip`` (a reason, or None) and ``stage``, its name.
    """
    stage = f"train {strategy} {','.join(devices)} {precision}" + (" xla" if compiled else "")
    return {
        "strategy": strategy,
        "devices": list(devices),
        "precision": precision,
        "compiled": compiled,
        "skip": None,
        "stage": stage,
    }


def skipped(strategy: str, devices: tuple[str, ...], reason: str) -> dict[str, Any]:
    """One run that can't be trained, and why."""
    return {**planned(strategy, devices, "float32"), "skip": reason}


def usable(devices: list[str], free: dict[str, int]) -> tuple[list[str], dict[str, str]]:
    """Devices with room for the smoke job, and why the others have none. ``free`` is by GPU number; unknown is usable."""
    fit, unfit = [], {}
    for device in devices:
        room = free.get(device.split(":")[1]) if device.startswith("GPU") else None
        if room is not None and room < NEEDED_BYTES:
            unfit[device] = (
                f"only {room / 2**30:.1f} GiB of its memory are free; the smoke job needs {NEEDED_BYTES / 2**30:.1f} GiB"
            )
        else:
            fit.append(device)
    return fit, unfit


def groups(runs: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Runs that may be trained at the same time: independent devices of one kind, everything else alike.

    The first device of a kind trains alone, with ``Model.fit``: it is the reference for the others.
    """
    found: dict[Any, list[dict[str, Any]]] = {}
    alone: list[list[dict[str, Any]]] = []
    seen = set()
    for run in runs:
        kind = (run["strategy"], run["devices"][0].split(":")[0], run["precision"], run["compiled"])
        if run["strategy"] != "one_device" or kind not in seen:
            seen.add(kind)
            alone.append([run])
        elif kind in found:
            found[kind].append(run)
        else:
            found[kind] = [run]
            alone.append(found[kind])
    return alone
