"""The proof: what a short training job on each device and with each strategy lived through, in child processes."""

from typing import Any

import msgspec
from msgspec.structs import replace

from gpucheck.cluster import coordinator as _coordinator
from gpucheck.cluster import workers as _workers
from gpucheck.engine.plugin import probe
from gpucheck.host import Child, Ending, Host
from gpucheck.model import Experiment, Fact, Level, TrainingRun
from gpucheck.probes import _exhaustion, cuda, gpus
from gpucheck.probes._framework import elsewhere, once_more, oom_killed, trainer
from gpucheck.probes._last_words import last_words
from gpucheck.probes.limits import oom_kills

HANG_SECONDS = 45.0  # for several devices to train what each of them has trained alone, on top of what that took
HANG_FACTOR = 20.0
CULPRITS = 3  # devices that end the process, each of which costs another import; with more it is no single device
EXCHANGING = ("first step", "steps")  # the stages in which gradients are exchanged
WITHOUT_NCCL = ("hierarchical_copy", "reduction_to_one")


class Training(Fact, frozen=True, kw_only=True):
    """Training runs in the order they were tried."""

    runs: tuple[TrainingRun, ...] = ()
    experiments: tuple[Experiment, ...] = ()  # under --full: what was tried beside them
    ending: str | None = None  # how the child ended if it did not finish: "timed out", "killed by SIGSEGV"
    stage: str | None = None  # the stage it was in then
    # Where SIGKILL ended the child: processes that the kernel killed for want of memory meanwhile. None: not counted.
    oom_kills: int | None = None
    # Where a signal ended the child: the fatal line that it wrote, and the calls of Python in which it died, the innermost first.
    last_words: tuple[str, ...] = ()


@probe(level=Level.DEFAULT, smoke=True)
def read(host: Host) -> Training:
    """Tell the child that trains how much memory is free, and collect what it planned and measured."""
    before = oom_kills(host)
    framework = trainer(host)
    free = {"free_bytes": _free_bytes(host)}
    framework.tell(free)
    plan = framework.until("plan")
    if plan is None:
        ending = framework.end()
        how = None if ending.ok else ending.how
        kills = oom_killed(host, how, before)
        return Training(ending=how, stage=ending.stage, oom_kills=kills, last_words=last_words(framework))
    _watch(framework, plan)
    ending = framework.end()
    stages = framework.stages()
    runs = [_run(item, stages, ending) for item in plan]
    runs = _alone(host, plan, runs, ending, free)
    runs += _without_nccl(host, plan, runs, free)
    if elsewhere(host) is None and _wanted(host, "multi_worker_mirrored"):
        runs.append(_workers.train(host, stages))
    if "parameter_server" in host.request.strategies:
        runs.append(_coordinator.train(host, stages))
    experiments = _experiments(stages, ending)
    if host.request.level >= Level.FULL:
        experiments += _exhaustion.provoke(host, runs)
    how = None if ending.ok else ending.how
    return Training(
        runs=tuple(runs),
        experiments=tuple(experiments),
        ending=how,
        stage=ending.stage,
        oom_kills=oom_killed(host, how, before),
        last_words=last_words(framework),
    )


def _wanted(host: Host, strategy: str) -> bool:
    request = host.request
    return strategy in request.strategies or (request.level >= Level.FULL and not request.strategies)


def _watch(framework: Child, plan: list[dict[str, Any]]) -> None:
    """Several devices that wait for each other can wait for ever: end the child while there is time to find out why."""
    alone = [0.0]
    for item in plan:
        if item["skip"]:
            continue
        if len(item["devices"]) < 2:
            done = framework.until(item["stage"])
            alone.append((done or {}).get("first_step_seconds") or 0.0)
        elif framework.until(item["stage"], within=HANG_SECONDS + HANG_FACTOR * max(alone)) is None:
            return


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
        return msgspec.convert({**done, **_found_out(item["stage"], stages)}, TrainingRun)
    base = TrainingRun(
        strategy=item["strategy"],
        devices=tuple(item["devices"]),
        replicas=len(item["devices"]),
        backend=item.get("backend", "tensorflow"),
        precision=item["precision"],
        compiled=item["compiled"],
        status="skipped",
        reason=item["skip"],
    )
    if item["skip"]:
        return base
    open_runs = [stage.partition(": ") for stage in ending.open if stage.startswith("train ")]
    step = next((step for stage, _, step in open_runs if stage == item["stage"]), None)
    if step is None:
        return replace(base, status="timed_out" if ending.how == "timed out" else "skipped", reason=_before(ending))
    late = ending.how == "timed out"
    others = f", with {len(open_runs) - 1} more devices at the same time" if len(open_runs) > 1 else ""
    reason = "out of time" if late else f"the training process was {ending.how}{others}"
    return replace(base, status="timed_out" if late else "failed", reason=reason, stage=step or "build")


def _found_out(stage: str, stages: dict[str, Any]) -> dict[str, Any]:
    """What experiments measured of an earlier run."""
    found: dict[str, Any] = {}
    for name, value in stages.items():
        if name.startswith("experiment "):
            found.update((value.get("fields") or {}).get(stage, {}))
    return found


def _before(ending: Ending) -> str:
    return f"not reached: the training process {'ran out of time' if ending.how == 'timed out' else f'was {ending.how}'}"


def _xla(device: str, stages: dict[str, Any], ending: Ending) -> dict[str, Any]:
    answer = stages.get(f"xla {device}")
    if answer is not None:
        return {"xla_verified": answer["verified"], "xla_problem": answer["problem"]}
    if ending.stage == f"xla {device}" and ending.how != "timed out":
        return {"xla_verified": False, "xla_problem": f"the process was {ending.how}"}
    return {}


def _experiments(stages: dict[str, Any], ending: Ending) -> list[Experiment]:
    """Those that were made, and the one that the child did not live through."""
    made = [
        msgspec.convert({key: item for key, item in value.items() if key != "fields"}, Experiment)
        for stage, value in stages.items()
        if stage.startswith("experiment ")
    ]
    for stage in ending.open:
        if stage.startswith("experiment "):
            late = ending.how == "timed out"
            reason = "out of time" if late else f"the process was {ending.how}"
            name = stage.partition(": ")[0].removeprefix("experiment ")
            made.append(Experiment(name=name, status="timed_out" if late else "failed", reason=reason))
    return made


def _alone(
    host: Host, plan: list[dict[str, Any]], runs: list[TrainingRun], ending: Ending, free: dict[str, Any]
) -> list[TrainingRun]:
    """Runs that were under way at the same time when the process died are trained again, one by one: that names the one."""
    together = {stage.partition(": ")[0] for stage in ending.open if stage.startswith("train ")}
    if len(together) < 2 or ending.how == "timed out":
        return runs
    again: dict[str, TrainingRun] = {}
    left = [item for item in plan if item["stage"] in together]
    for _ in range(CULPRITS):
        again.update(_again(host, left, free))
        left = [item for item in left if item["stage"] not in again or again[item["stage"]].status == "skipped"]
        if not left:
            break
    return [again.get(item["stage"], run) for item, run in zip(plan, runs, strict=True)]


def _without_nccl(host: Host, plan: list[dict[str, Any]], runs: list[TrainingRun], free: dict[str, Any]) -> list[TrainingRun]:
    """Where mirrored devices fail or hang together: the same job, its gradients summed without NCCL. One that passes says it."""
    bad = [
        item
        for item, run in zip(plan, runs, strict=True)
        if item["strategy"] == "mirrored" and len(item["devices"]) > 1 and run.stage in EXCHANGING and run.status != "passed"
    ]
    tried: list[TrainingRun] = []
    for cross_device in WITHOUT_NCCL if bad else ():
        found = _again(host, bad[:1], free, cross_device)
        tried += [replace(run, cross_device=cross_device) for run in found.values()]
        if any(run.status == "passed" for run in tried):
            break
    return tried


def _again(
    host: Host, items: list[dict[str, Any]], free: dict[str, Any], cross_device: str | None = None
) -> dict[str, TrainingRun]:
    """Some runs once more, in a child of their own, one by one; by their stage."""
    framework = once_more(host, tuple(item["stage"] for item in items), cross_device)
    framework.tell(free)
    if framework.until("plan") is None:
        return {}
    _watch(framework, items)
    ending = framework.end()
    stages = framework.stages()
    return {item["stage"]: _run(item, stages, ending) for item in items}
