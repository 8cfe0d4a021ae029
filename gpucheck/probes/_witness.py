"""What the probes of the two driver witnesses share: how a child's stages and its ending become a status.

A child that could not be started, or that stumbled over a bug of ours, says nothing about the driver: then the probe fails.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from gpucheck.host import Child, Ending, Host

LIMIT_SECONDS = 20.0
PATIENCE_SECONDS = 4.0  # below which silence says nothing: without persistence mode, nvmlInit wakes every GPU first
LATE = ("timed out", "could not be killed")


class Account(NamedTuple):
    """What a witness lived through; ``status`` and the fields after it as in ``Driver``."""

    status: str
    result: int | None
    result_name: str | None
    problem: str | None
    library: str | None
    stages: dict[str, Any]
    died_in: str | None  # the stage it crashed or hung in


def limit(host: Host) -> float:
    """Seconds a witness may take. A part of what remains is kept, so that "hung" is told before the run's time is up."""
    return min(LIMIT_SECONDS, host.remaining() * 0.8)


def listen(child: Child, doing: Mapping[str, str], seconds: float) -> Account:
    """Wait for a witness' end.

    Args:
        child: the witness.
        doing: stage -> what it does then, in words: {"init": "in nvmlInit"}.
        seconds: the time it was given.

    Raises:
        RuntimeError: it could not be asked, or had too little time, through no fault of the driver.
    """
    ending, stages = child.end(), child.stages()
    if "crashed" in stages or ending.how.startswith("not started"):
        raise RuntimeError(f"the driver could not be asked: {ending.how}")
    if not ending.ok and ending.how not in LATE and ending.stage is None and not stages:
        raise RuntimeError(
            f"the driver could not be asked: {_ending(child, ending.how, 'before it opened any library', seconds)}"
        )
    where = doing.get(ending.stage or "") or (f"in the stage {ending.stage}" if ending.stage else "between stages")
    if (why := too_early(ending, seconds)) is not None:
        raise RuntimeError(f"no answer within {seconds:.2g} s {where}: {why}")
    loaded = stages.get("load") or {}
    library = loaded.get("library")
    if not ending.ok:
        status = "hung" if ending.how in LATE else "crashed"
        return Account(status, None, None, _ending(child, ending.how, where, seconds), library, stages, ending.stage)
    if loaded.get("status") != "loaded":
        return Account(loaded.get("status", "failed"), None, None, loaded.get("problem"), library, stages, None)
    for value in stages.values():
        if isinstance(value, dict) and value.get("result") and "index" not in value:
            name, problem = value.get("result_name"), value.get("problem")
            return Account("failed", value["result"], name, problem, library, stages, None)
    return Account("ok", None, None, None, library, stages, None)


def too_early(ending: Ending, seconds: float) -> str | None:
    """Why the silence of a child that was stopped after that time says nothing about the driver; None: it does."""
    if ending.how not in LATE:
        return None
    if ending.starved:
        return "this machine gave it no time to run"
    return "too short a time to blame the driver" if ending.stage is None or seconds < PATIENCE_SECONDS else None


def cuda_version(number: Any) -> str | None:
    """A CUDA version as NVIDIA numbers it: 13000 is "13.0"."""
    return f"{number // 1000}.{number % 1000 // 10}" if isinstance(number, int) and number > 0 else None


def _ending(child: Child, how: str, where: str, seconds: float) -> str:
    if how in LATE:
        stuck = "; the process that asked can't be killed: it is stuck in the kernel" if how != "timed out" else ""
        return f"no answer within {seconds:.2g} s {where}{stuck}"
    lines = [line.strip() for line in child.log().splitlines() if line.strip()]
    last_words = f"; its last words: {lines[-1][:200]}" if lines else ""
    verb = "was killed" if how.startswith("killed") else how.partition(" ")[0]
    return f"the process that asked {verb} {how.partition(' ')[2]} {where}{last_words}"
