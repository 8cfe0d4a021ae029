"""What is trained, what each job came to, and what the experiments measured."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message, Task
from gpucheck.core.child.messages.values import Values, field


class FreeMemory(Message):
    """From the parent: the free memory of each GPU, in bytes, by its CUDA ordinal; what is unknown is left out."""

    free_bytes: dict[str, int]


class Job(Values):
    """One training job: one strategy on some devices in one precision."""

    strategy: str
    devices: tuple[str, ...]  # "GPU:0"
    precision: str = "float32"  # a Keras dtype policy
    compiled: bool = False  # by XLA
    skip: str | None = None  # why it is not trained
    backend: str = "tensorflow"  # of Keras

    @property
    def id(self) -> str:
        """What its messages go by: the same in every process that plans it."""
        return job_id(self)


def job_id(job: Job | JobResult) -> str:
    """Strategy, devices and precision, for display too: "one_device GPU:0 float32"."""
    return f"{job.strategy} {','.join(job.devices)} {job.precision}" + (" xla" if job.compiled else "")


class Planned(Message):
    """The jobs, in the order in which they are trained."""

    stage: ClassVar[str] = "plan"
    jobs: tuple[Job, ...]
    experiments: int = 0  # how many are tried after them


class MeanLoss(Values):
    """The loss of a job; None where it was not finite."""

    first: float | None = None
    last: float | None = None
    first_third: float | None = None  # mean over the first third of the steps
    last_third: float | None = None


class JobResult(Message):
    """What a job came to; the job is its id. Fields as in ``TrainingRun``, which is made from them."""

    stage: ClassVar[str] = "train"
    strategy: str
    devices: tuple[str, ...]
    precision: str
    compiled: bool = False
    backend: str = "tensorflow"
    replicas: int = 0
    loop: str = "fit"
    status: str = "failed"
    reason: str | None = None
    reached: str | None = "build"  # the last step that it came to; None: it passed
    trained_with: int = 0
    global_batch_size: int | None = None
    per_replica_batch_size: int | None = None
    drop_remainder: bool | None = None
    steps: int | None = None
    steps_per_execution: int = 1
    samples_per_second: float | None = None
    step_seconds: float | None = None
    first_step_seconds: float | None = None
    loss: MeanLoss = field(default_factory=MeanLoss)
    losses_finite: bool | None = None
    loss_fell: bool | None = None
    accuracy: float | None = None
    gradients_reach_weights: bool | None = None
    weights_finite: bool | None = None
    placement_verified: bool | None = None
    misplaced_ops: tuple[str, ...] = ()
    replicas_equal: bool | None = None
    output_dtype: str | None = None
    loss_scale: float | None = None
    tf32: bool | None = None
    peak_memory_bytes: int | None = None
    cpu_first_loss: float | None = None
    sharding: str | None = None
    shards_verified: bool | None = None


class XlaChecked(Message):
    """Whether a small step compiled by XLA ran; the job is the device."""

    stage: ClassVar[str] = "xla"
    verified: bool
    problem: str | None = None


class JobFigures(Values):
    """What experiments find out about a job that was trained before. Fields as in ``TrainingRun``; None: not measured."""

    input_wait_share: float | None = None
    piped_samples_per_second: float | None = None
    device_samples_per_second: float | None = None
    scaling_efficiency: float | None = None
    doubled_batch_scaling_efficiency: float | None = None


class ExperimentResult(Message):
    """What an experiment measured; the job is its name."""

    stage: ClassVar[str] = "experiment"
    devices: tuple[str, ...] = ()
    figures: dict[str, float | None] = field(default_factory=dict)  # units in the names; None: unknown
    problem: str | None = None  # why what it shows is a fault
    skipped: str | None = None  # why it can't be made on this machine
    about_job: str | None = None  # id of the job that ``job_figures`` are of
    job_figures: JobFigures = field(default_factory=JobFigures)


class ExhaustionTask(Task):
    """Run out of memory on purpose."""

    child: ClassVar[str] = "exhaustion"
    examined: ClassVar[bool] = True
    gpu: int | None  # its number; None: the CPU


class LimitSet(Message):
    """Trained for some steps, and limited the memory."""

    stage: ClassVar[str] = "build"
    loss: float
    limit_bytes: int | None = None
    problem: str | None = None  # why no limit can be set


class Exhausted(Message):
    """Asked for more memory than the limit."""

    stage: ClassVar[str] = "exhaust"
    asked_bytes: int
    seconds: float
    error: str | None = None  # type of what was raised; None: nothing
    words: str | None = None


class Recovered(Message):
    """Trained the same steps once more."""

    stage: ClassVar[str] = "recover"
    loss: float
