"""Out of memory, provoked in a child process of its own: whether a program can catch it, and train on afterwards."""

import json
from collections.abc import Iterable
from typing import Any

from gpucheck.host import Ending, Host
from gpucheck.model import Experiment, TrainingRun

NAME = "out_of_memory"
CAUGHT = "ResourceExhaustedError"
LIMIT_SECONDS = 90.0  # ten of them TensorFlow itself waits for a GPU's memory before it gives up
TOLERANCE = 0.01  # relative: afterwards the same steps give the same loss, but for rounding
WHEN = {
    "exhaust": "when it asked for more memory than there is",
    "recover": "when it trained again, after an out-of-memory that it had caught",
}


def provoke(host: Host, runs: Iterable[TrainingRun]) -> list[Experiment]:
    """Run out of memory on the first device on which TensorFlow has trained in this run; empty: there is none."""
    passed = [run for run in runs if run.status == "passed" and run.backend == "tensorflow" and run.workers is None]
    if not passed:
        return []
    device = passed[0].devices[0]
    if device.startswith("TPU"):
        return [Experiment(name=NAME, status="skipped", reason="TensorFlow can't limit a TPU's memory", devices=(device,))]
    split = max(1, host.request.logical_devices)
    gpu = int(device.split(":")[1]) // split if device.startswith("GPU") else None
    child = host.child("exhaustion", json.dumps({"gpu": gpu}), limit=LIMIT_SECONDS)
    ending, stages = child.end(), child.stages()
    build, exhaust = stages.get("build") or {}, stages.get("exhaust") or {}
    status, reason = _judged(stages, ending, gpu is not None, host.remaining() <= 0)
    made = Experiment(
        name=NAME,
        status=status,
        reason=reason,
        devices=(device,),
        figures={
            "limit_set_by_gpucheck_bytes": build.get("limit_bytes"),
            "asked_bytes": exhaust.get("asked_bytes"),
            "raised_after_seconds": exhaust.get("seconds"),
            "loss_before": build.get("loss"),
            "loss_after": (stages.get("recover") or {}).get("loss"),
        },
        note=exhaust.get("words"),
    )
    return [made]


def _judged(stages: dict[str, Any], ending: Ending, on_gpu: bool, out_of_time: bool) -> tuple[str, str | None]:
    """Status and reason. A child that hangs, crashes or is killed has answered, too."""
    if not ending.ok:
        when = WHEN.get(ending.stage or "", "before it asked for anything")
        if ending.how == "timed out":
            return ("timed_out", "out of time") if out_of_time else ("failed", f"the process hung {when}")
        return "failed", f"the process ended {when}: {ending.how}"
    if "build" not in stages:
        problems = [f"{value['error']}" for value in stages.values() if isinstance(value, dict) and value.get("error")]
        return "failed", f"the process did not come to train: {'; '.join(problems) or 'no reason was given'}"
    if stages["build"]["problem"]:
        return "skipped", stages["build"]["problem"]
    exhaust, before, after = stages["exhaust"], stages["build"]["loss"], stages["recover"]["loss"]
    asked = f"{exhaust['asked_bytes'] / 2**30:.1f} GiB"
    limit = f"gpucheck's own limit of {stages['build']['limit_bytes'] / 2**30:.1f} GiB"
    if exhaust["error"] is None:
        given = f"{asked} were given within {limit}"
        return ("failed", given) if on_gpu else ("skipped", f"{given}: this system does not enforce it")
    if exhaust["error"] != CAUGHT:
        return "failed", f"asking for {asked} within {limit} does not raise {CAUGHT}, but {exhaust['words']}"
    if not abs(after - before) <= TOLERANCE * abs(before):
        return (
            "failed",
            f"the same steps give a loss of {after:.4g} after an out-of-memory that was caught, and {before:.4g} before",
        )
    return "passed", None
