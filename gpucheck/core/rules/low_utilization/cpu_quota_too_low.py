"""This container or job is limited to too few processors to keep the GPUs busy.

Symptom:
    UserWarning: This DataLoader will create 32 worker processes in total. Our suggested max number of worker in current
      system is 2, which is smaller than what this DataLoader is going to create.
    - GPU utilization stays low while one CPU core is at 100 %.
    - os.cpu_count() shows all cores of the machine, and training is as slow as with one.
Cause:
    Reading, decoding and augmenting the data runs on the CPU, and one thread per GPU launches kernels. A container with a CPU
    limit, or a batch job that requested one core (Slurm's default), has too few processors for that.
Verify:
    python -c "import os; print(len(os.sched_getaffinity(0)))" and, in a container, cat /sys/fs/cgroup/cpu.max
Unless:
    The data is already on the GPU, or is tiny. If gpucheck --full measured that the available processors keep a GPU busy with
    decoded and augmented samples, it does not report this.
Example:
    limits.cpu_quota = 1.0
    -> This container or job is limited to 1 of 16 processors for 1 GPU; reading and preparing the data needs at least 2 per GPU.
References:
    https://www.tensorflow.org/guide/data_performance
    https://docs.docker.com/engine/containers/resource_constraints/
"""

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.combiners.resources import Resources
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.probes.limits import Limits
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import give_more

PROCESSORS_PER_GPU = 2  # one launches kernels, at least one prepares the next batch
ACHIEVED = ("jpeg_parallel_map_samples_per_second", "device_samples_per_second")
FED = 0.8  # of the GPU's training rate: it then waits at most a fifth of the time, as in input-pipeline-bound


@rule(
    severity=Severity.WARNING,
    scope=Scope.HOST,
    explains=("input-pipeline-bound", "scaling-inefficient"),
    first_check="the CPUs that the container or job may use",
    jobs=True,
)
def check(resources: Resources, used: GpusInUse, context: Context) -> Finding | Skip | None:
    """Report a quota or affinity below two processors per GPU, unless the machine itself has no more.

    If the rate of the input pipeline was measured, that rate decides, not the number of processors.
    """
    count, limits, outcomes = len(used.used), resources.limits, resources.outcomes
    if limits is None:
        return Skip("the limits of this process are not known")
    if not count:
        return None
    if limits.cpu_count is None and limits.cpu_affinity_count is None and limits.cpu_quota is None:
        return Skip("how many processors this process may use is not known")
    granted, field = _granted(limits)
    if granted is None or granted >= PROCESSORS_PER_GPU * count:
        return None
    of = f" of {limits.cpu_count} processors" if limits.cpu_count is not None else " processor" + "s" * (granted != 1)
    effect = f"reading and preparing the data needs at least {PROCESSORS_PER_GPU} per GPU"
    gpu = _first_gpu(outcomes)
    place, figures = outcomes.figures("input_pipeline", gpu)
    fed, able = (figures.get(name) for name in ACHIEVED)
    if fed and able:
        if count == 1 and fed >= FED * able:
            return None
        effect = (
            f"decoding and augmenting on all of them fed {gpu[0]} {fed:.0f} samples per second, but the GPU can train on"
            f" {able:.0f}"
        )
    return Finding(
        summary=f"This container or job is limited to {granted:g}{of} for {count} GPU{'s' if count > 1 else ''}; {effect}.",
        evidence=(
            *saw(limits, field, "cpu_count"),
            *(outcomes.saw_figures(place, *ACHIEVED) if fed and able else ()),
        ),
        fix=repairs(context, processors=min(max(8, 4 * count), limits.cpu_count or max(8, 4 * count))),
    )


def _granted(limits: Limits) -> tuple[float | None, str]:
    """Return the lowest limit on processors, with its field; None if there is no limit."""
    values = ((limits.cpu_quota, "cpu_quota"), (limits.cpu_affinity_count, "cpu_affinity_count"))
    lowered = [
        (value, field) for value, field in values if value is not None and (limits.cpu_count is None or value < limits.cpu_count)
    ]
    return min(lowered, default=(None, ""))


def _first_gpu(outcomes: TrainingOutcomes) -> tuple[str, ...]:
    """Return the GPU of the single-device experiments."""
    alone = (run.devices for run in outcomes.passed if len(run.devices) == 1 and run.devices[0].startswith("GPU"))
    return next(alone, ())


def repairs(context: Context, *, suggested: str = "", asked: str = "8", processors: int | None = None) -> Fixes:
    """Use fewer workers, or more processors.

    Args:
        context: what is known about the machine.
        suggested: the number of workers that a log suggests: "2".
        asked: the number of workers that the program starts: "4".
        processors: the number to request; None: one for each of these workers.
    """
    processors = processors or int(asked)
    if suggested:
        yield Fix(text=f"Start no more workers than the job has processors: DataLoader(num_workers={suggested})")
    yield from give_more(
        context,
        "processors",
        docker=f"--cpus {processors}",
        kubernetes=f'resources: {{limits: {{cpu: "{processors}"}}}}',
        slurm=f"--cpus-per-task={processors}",
    )
    if context.kinds["container"] == context.scheduler == "":
        yield Fix(
            text="Start training without the processor limit (taskset, or a service's CPUQuota=), or request more from the batch"
            " system"
        )
    if context.framework != "torch":
        yield Fix(text="Move augmentation onto the GPU (Keras preprocessing layers in the model), or prepare the data beforehand")
