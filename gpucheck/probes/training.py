"""The proof: what a short training job on each device and with each strategy lived through, in child processes."""

from typing import Any

import msgspec
from msgspec.structs import replace

from gpucheck.host import Ending, Host
from gpucheck.model import Fact, Level, TrainingRun
from gpucheck.plugin import probe
from gpucheck.probes import _workers, cuda, gpus
from gpucheck.probes._framework import child


class Training(Fact, frozen=True, kw_only=True):
    """Training runs in the order they were tried."""

    runs: tuple[TrainingRun, ...] = ()
    ending: str | None = None  # how the child ended if it did not finish: "timed out", "killed by SIGSEGV"
    stage: str | None = None  # the stage it was in then


@probe(level=Level.DEFAULT, smoke=True)
def read(host: Host) -> Training:
    """Tell the framework child how much memory is free, and collect what it planned and measured."""
    framework = child(host)
    framework.tell({"free_bytes": _free_bytes(host)})
    plan = framework.until("plan")
    if plan is None:
        ending = framework.end()
        return Training(ending=None if ending.ok else ending.how, stage=ending.stage)
    ending = framework.end()
    stages = framework.stages()
    runs = [_run(item, stages, ending) for item in plan]
    if _wanted(host, "multi_worker_mirrored"):
        runs.append(_workers.train(host))
    return Training(runs=tuple(runs), ending=None if ending.ok else ending.how, stage=ending.stage)


def _wanted(host: Host, strategy: str) -> bool:
    request = host.request
    return strategy in request.strategies or (request.level >= Level.FULL and not request.strategies)


def _free_bytes(host: Host) -> dict[str, int]:
    """Free memory by CUDA ordinal: NVML knows the memory, CUDA the order after CUDA_VISIBLE_DEVICES. Unknown is left out."""
    try:
        nvml, driver = gpus.read(host), cuda.read(host)
    except RuntimeError:  # a driver that does not answer is those probes' to tell
        return {}
    by_address = {gpu.pci_address: gpu.memory_free_bytes for gpu in nvml.gpus if gpu.pci_address}
    free = {str(device.ordinal): by_address.get(device.pci_address) for device in driver.devices if device.pci_address}
    return {ordinal: room for ordinal, room in free.items() if room is not None}


def _run(item: dict[str, Any], stages: dict[str, Any], ending: Ending) -> TrainingRun:
    """One planned run: as the child measured it, or how far it came before the child ended."""
    done = stages.get(item["stage"])
    if done is not None:
        if item["strategy"] == "one_device":
            done = {**done, **_xla(item["devices"][0], stages, ending)}
        return msgspec.convert(done, TrainingRun)
    base = TrainingRun(
        strategy=item["strategy"],
        devices=tuple(item["devices"]),
        replicas=len(item["devices"]),
        precision=item["precision"],
        compiled=item["compiled"],
        status="skipped",
        reason=item["skip"],
    )
    if item["skip"]:
        return base
    here, _, step = (ending.stage or "").partition(": ")
    if here != item["stage"]:
        return replace(base, status="timed_out" if ending.how == "timed out" else "skipped", reason=_before(ending))
    late = ending.how == "timed out"
    reason = "out of time" if late else f"the training process was {ending.how}"
    return replace(base, status="timed_out" if late else "failed", reason=reason, stage=step or "build")


def _before(ending: Ending) -> str:
    return f"not reached: the training process {'ran out of time' if ending.how == 'timed out' else f'was {ending.how}'}"


def _xla(device: str, stages: dict[str, Any], ending: Ending) -> dict[str, Any]:
    answer = stages.get(f"xla {device}")
    if answer is not None:
        return {"xla_verified": answer["verified"], "xla_problem": answer["problem"]}
    if ending.stage == f"xla {device}" and ending.how != "timed out":
        return {"xla_verified": False, "xla_problem": f"the process was {ending.how}"}
    return {}
