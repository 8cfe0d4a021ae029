"""The results of a short training job on each device and with each strategy, in child processes."""

from msgspec.structs import replace

from gpucheck.core.child.messages import Stage
from gpucheck.core.child.messages.frameworks import DevicesListed
from gpucheck.core.child.messages.training import (
    Checksums,
    ExperimentResult,
    FreeMemory,
    Job,
    Planned,
    Trained,
    XlaChecked,
    job_id,
)
from gpucheck.core.host import Child, Ending, Host
from gpucheck.core.logs.last_words import last_words
from gpucheck.core.model import Experiment, Fact, Level, TrainingRun
from gpucheck.core.model.checksums import agree
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes import _frameworks as frameworks
from gpucheck.core.probes import activity, cuda, gpus
from gpucheck.core.training.strategies import load

HANG_SECONDS = 45.0  # for a job on several devices, plus a multiple of the time of a job on one
HANG_FACTOR = 20.0
CRASHING_DEVICES_MAX = (
    3  # devices that crash the process, each of which takes another import; with more, devices are not the cause
)
EXCHANGING = ("first step", "steps")  # the stages in which gradients are exchanged
WITHOUT_NCCL = ("hierarchical_copy", "reduction_to_one")


class Training(Fact, frozen=True, kw_only=True):
    """Training runs in the order they were tried."""

    runs: tuple[TrainingRun, ...] = ()
    experiments: tuple[Experiment, ...] = ()  # with --full: experiments after the jobs
    checksums: Checksums | None = None  # of computations that were repeated on each device; None: not reached
    skipped: str | None = None  # why nothing was to be trained: "TensorFlow lists no GPU, although CUDA detects one"
    ending: str | None = None  # how the child ended if it did not finish: "timed out", "killed by SIGSEGV"
    stage: str | None = None  # the stage it was in at that time
    # If SIGKILL ended the child: processes that the OOM killer ended in the meantime. None: not counted.
    oom_kills: int | None = None
    # If a signal ended the child: the fatal line that it wrote, and its Python calls, innermost first.
    last_words: tuple[str, ...] = ()


@probe(level=Level.DEFAULT, smoke=True)
def read(host: Host) -> Training:
    """Send the free memory to the training child, and collect its plan and results."""
    child = frameworks.training_child(host)
    free = FreeMemory(_free_bytes(host))
    child.send(free)
    plan = child.wait_for(Planned, within=0.0 if _is_pointless(host, child) else None)
    if plan is not None:
        _watch(child, plan.jobs)
    ending = child.end()
    runs: list[TrainingRun] = []
    experiments: list[Experiment] = []
    skipped = plan.skipped if plan is not None else None
    if plan is not None and skipped is None:
        runs = [_run(job, child, ending) for job in plan.jobs]
        runs = _train_alone(host, plan.jobs, runs, ending, free)
        runs += _without_nccl(host, plan.jobs, runs, free)
        from gpucheck.core.cluster import members, workers  # --quick does not need them

        if frameworks.other_backend(host) is None and _is_included(host, members.STRATEGY):
            runs.append(workers.train(host, child, gpu_count(host)))
        if _is_included(host, workers.PARAMETER_SERVER):
            runs.append(workers.train_with_server(host, child))
        experiments = _experiments(child, ending)
        if host.request.level >= Level.FULL:
            from gpucheck.core.probes import _exhaustion as exhaustion  # only needed here

            experiments += exhaustion.provoke(host, runs)
    checksums = child.message(Checksums)
    if checksums is not None and (host.request.level >= Level.FULL or host.request.soak_minutes):
        experiments.append(_repeated(checksums, host))
    how = None if ending.ok else ending.how
    return Training(
        runs=tuple(runs),
        skipped=skipped,
        experiments=tuple(experiments),
        checksums=checksums,
        ending=how,
        stage=str(ending.stage) if ending.stage else None,
        oom_kills=frameworks.oom_killed(host, how),
        last_words=last_words(child),
    )


def _is_pointless(host: Host, child: Child) -> bool:
    """Whether training would only hang, because the driver hangs and the run is not about the CPU."""
    listed = child.message(DevicesListed)
    if listed is None or not frameworks.driver_hangs(host):
        return False
    return not host.request.allow_cpu or any(device.kind == "GPU" for device in listed.devices or ())


def _is_included(host: Host, strategy: str) -> bool:
    """Whether this run includes a strategy of several processes."""
    request = host.request
    return strategy in request.strategies or (request.level >= load(strategy).level and not request.strategies)


def _watch(child: Child, jobs: tuple[Job, ...]) -> None:
    """Wait for the jobs; return early if one on several devices hangs, while there is time to find the cause."""
    alone = 0.0
    for job in jobs:
        if job.skip:
            continue
        if len(job.devices) < 2:
            done = child.wait_for(Trained, job.id)
            alone = max(alone, (done.run.first_step_seconds if done else None) or 0.0)
        elif child.wait_for(Trained, job.id, within=HANG_SECONDS + HANG_FACTOR * alone) is None:
            return


def _free_bytes(host: Host) -> dict[str, int]:
    """Return free memory by CUDA ordinal: memory from NVML, order after CUDA_VISIBLE_DEVICES from CUDA, unknown ones omitted."""
    try:
        nvml, driver = gpus.read(host), cuda.read(host)
    except RuntimeError:  # those probes report a driver that does not respond
        return {}
    by_address = {gpu.pci_address: gpu.memory_free_bytes for gpu in nvml.gpus if gpu.pci_address}
    free = {str(device.ordinal): by_address.get(device.pci_address) for device in driver.devices if device.pci_address}
    return {ordinal: room for ordinal, room in free.items() if room is not None}


def _run(job: Job, child: Child, ending: Ending) -> TrainingRun:
    """Return the run of a planned job: its result, or the stage it had reached when the child ended."""
    trained = _trained(job, child)
    if trained is not None:
        return _with_xla(trained, child, ending) if job.strategy == "one_device" else trained
    run = job.planned_run
    if job.skip:
        return run
    late = ending.how == "timed out"
    open_jobs = [stage for stage in ending.open if stage.name == Trained.stage]
    stage = next((stage for stage in open_jobs if stage.job == job.id), None)
    if stage is None:
        how = "reached the time limit" if late else f"was {ending.how}"
        return replace(run, status="timed_out" if late else "skipped", reason=f"not reached: the training process {how}")
    others = f", with {len(open_jobs) - 1} more devices at the same time" if len(open_jobs) > 1 else ""
    reason = "the time limit was reached" if late else f"the training process was {ending.how}{others}"
    return replace(run, status="timed_out" if late else "failed", reason=reason, stage=stage.step or "build")


def _trained(job: Job, child: Child) -> TrainingRun | None:
    """Return the job's result, with figures that experiments added later; None if the job did not end."""
    trained = child.message(Trained, job.id)
    measured = [result.run for result in child.messages(ExperimentResult).values() if result.run and job_id(result.run) == job.id]
    return measured[-1] if measured else trained.run if trained else None


def _with_xla(run: TrainingRun, child: Child, ending: Ending) -> TrainingRun:
    device = run.devices[0]
    answer = child.message(XlaChecked, device)
    if answer is None and ending.stage == Stage(XlaChecked.stage, device) and ending.how != "timed out":
        answer = XlaChecked(False, f"the process was {ending.how}")
    return run if answer is None else replace(run, xla_verified=answer.verified, xla_problem=answer.problem)


def _experiments(child: Child, ending: Ending) -> list[Experiment]:
    """Return the experiments that ended, and the one in which the child crashed or timed out."""
    made = []
    for name, result in child.messages(ExperimentResult).items():
        status = "skipped" if result.skipped else "failed" if result.problem else "passed"
        reason = result.skipped or result.problem
        made.append(Experiment(name=name, status=status, reason=reason, devices=result.devices, figures=result.figures))
    late = ending.how == "timed out"
    reason = "the time limit was reached" if late else f"the process was {ending.how}"
    for stage in ending.open:
        if stage.name == ExperimentResult.stage:
            made.append(Experiment(name=stage.job, status="timed_out" if late else "failed", reason=reason))
    return made


def _repeated(checksums: Checksums, host: Host) -> Experiment:
    """Return the repeated computations as an experiment: their number, the repetitions, and the GPUs' heat and clocks."""
    devices = checksums.devices
    if checksums.problem is not None or not devices:
        return Experiment(name="repeated_computations", status="skipped", reason=checksums.problem)
    missing = [len(device.unavailable) for device in devices]
    figures: dict[str, float | None] = {
        "computations": len(devices[0].checksums),
        "rounds": min(device.rounds for device in devices),
        "repeated_seconds": max(device.seconds for device in devices),
        **({"unavailable": max(missing)} if any(missing) else {}),
        **(_heat(host) if any(device.device.startswith("GPU") for device in devices) else {}),
    }
    return Experiment(
        name="repeated_computations",
        status="passed" if agree(checksums) else "failed",
        reason=None if agree(checksums) else "the results differ",
        devices=tuple(device.device for device in devices),
        figures=figures,
    )


def _heat(host: Host) -> dict[str, float | None]:
    """Return the hottest GPU's temperature and the slowest one's clock, as far as NVML reports them."""
    try:
        gpus = activity.read(host).gpus
    except RuntimeError:  # the probe reports it
        return {}
    degrees = [gpu.temperature_celsius for gpu in gpus if gpu.temperature_celsius is not None]
    clocks = [gpu.sm_clock_mhz for gpu in gpus if gpu.sm_clock_mhz is not None]
    return {**({"highest_celsius": max(degrees)} if degrees else {}), **({"sm_clock_mhz": min(clocks)} if clocks else {})}


def _train_alone(
    host: Host, jobs: tuple[Job, ...], runs: list[TrainingRun], ending: Ending, free: FreeMemory
) -> list[TrainingRun]:
    """Retrain, one by one, the jobs that ran at the same time when the process crashed, to find the one that crashes."""
    together = {stage.job for stage in ending.open if stage.name == Trained.stage}
    if len(together) < 2 or ending.how == "timed out":
        return runs
    again: dict[str, TrainingRun] = {}
    left = [job for job in jobs if job.id in together]
    for _ in range(CRASHING_DEVICES_MAX):
        again.update(_again(host, left, free))
        left = [job for job in left if job.id not in again or again[job.id].status == "skipped"]
        if not left:
            break
    return [again.get(job.id, run) for job, run in zip(jobs, runs, strict=True)]


def _without_nccl(host: Host, jobs: tuple[Job, ...], runs: list[TrainingRun], free: FreeMemory) -> list[TrainingRun]:
    """Retrain a mirrored job that failed or hung, without NCCL. If it passes, NCCL is the cause."""
    failed = [
        job
        for job, run in zip(jobs, runs, strict=True)
        if job.strategy == "mirrored" and len(job.devices) > 1 and run.stage in EXCHANGING and run.status != "passed"
    ]
    tried: list[TrainingRun] = []
    for cross_device in WITHOUT_NCCL if failed else ():
        again = _again(host, failed[:1], free, cross_device)
        tried += [replace(run, cross_device=cross_device) for run in again.values()]
        if any(run.status == "passed" for run in tried):
            break
    return tried


def _again(host: Host, jobs: list[Job], free: FreeMemory, cross_device: str | None = None) -> dict[str, TrainingRun]:
    """Train some jobs again in a separate child, one by one; return the runs by job id."""
    child = frameworks.train_again(host, tuple(job.id for job in jobs), cross_device)
    child.send(free)
    if child.wait_for(Planned) is None:
        return {}
    _watch(child, tuple(jobs))
    ending = child.end()
    return {job.id: _run(job, child, ending) for job in jobs}


def gpu_count(host: Host) -> int:
    """Return the number of GPUs that CUDA shows this process."""
    try:
        return cuda.read(host).device_count or 0
    except RuntimeError:  # that probe reports a driver that does not respond
        return 0
