"""Messages about training: the jobs, their results, and the results of the experiments."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message, Task
from gpucheck.core.child.messages.struct import Struct, field

JOB_BYTES = 3 << 29  # 1.5 GiB of GPU memory for a smoke job: context, cuDNN's workspaces and model; measured 0.5 GiB on an H200


class DeviceChecksums(Struct, frozen=True, kw_only=True):
    """Computations that were repeated on one device, in order, and whether their results had the same bits each time."""

    device: str  # "GPU:0"
    model: str | None  # "NVIDIA H200", "CPU"; only devices of the same model are compared; None: unknown
    rounds: int  # how many times each was computed
    seconds: float  # of all rounds
    checksums: dict[str, str]  # computation -> CRC-32 of the bits of its first result: "float32 step 2 gradients"
    losses: tuple[float, ...] = ()  # of the float32 steps
    unstable: dict[str, int] = field(default_factory=dict)  # computation -> rounds whose bits differ from the first one's
    wrong: dict[str, float] = field(default_factory=dict)  # computation with a known result -> largest difference from it
    unavailable: dict[str, str] = field(default_factory=dict)  # computation -> why this device can't do it


class Checksums(Message):
    """The checksums of all devices; with ``reference`` if devices of one model differ."""

    stage: ClassVar[str] = "checksums"
    devices: tuple[DeviceChecksums, ...]
    reference: tuple[float, ...] = ()  # the losses of the float32 steps on the CPU
    problem: str | None = None  # why there are none


class FreeMemory(Message):
    """From the parent: the free memory of each GPU, in bytes, by CUDA ordinal; unknown ones are omitted."""

    free_bytes: dict[str, int]


class Job(Struct):
    """One training job: one strategy on some devices in one precision."""

    strategy: str
    devices: tuple[str, ...]  # "GPU:0"
    precision: str = "float32"  # a Keras dtype policy
    compiled: bool = False  # by XLA
    skip: str | None = None  # why it is not trained
    backend: str = "tensorflow"  # of Keras

    @property
    def id(self) -> str:
        """The job of its messages: the same in every process that plans it."""
        return job_id(self)

    @property
    def planned_run(self) -> TrainingRun:
        """Its run before it is trained."""
        return TrainingRun(
            strategy=self.strategy,
            devices=self.devices,
            replicas=len(self.devices),
            backend=self.backend,
            precision=self.precision,
            compiled=self.compiled,
            status="skipped",
            reason=self.skip,
        )


def job_id(job: Job | TrainingRun) -> str:
    """Return strategy, devices and precision, also for display: "one_device GPU:0 float32"."""
    return f"{job.strategy} {','.join(job.devices)} {job.precision}" + (" xla" if job.compiled else "")


class Planned(Message):
    """The jobs, in the order in which they are trained."""

    stage: ClassVar[str] = "plan"
    jobs: tuple[Job, ...]
    experiments: int = 0  # how many run after them
    skipped: str | None = None  # why no job is trained


class Loss(Struct, frozen=True, kw_only=True):
    """Training loss (sparse categorical cross-entropy) of the first and the last step; None: not finite."""

    first: float | None = None
    last: float | None = None
    first_third: float | None = None  # mean over the first third of the steps, with which ``loss_fell`` compares
    last_third: float | None = None  # the mean over the last third


class WorkerFault(Struct, frozen=True, kw_only=True):
    """A worker responsible for the failure of a job of several."""

    worker: str  # "worker 1"
    # "ended" (by a signal or on its own), "raised", "stalled", "missing", "lost" (by the others), "port taken",
    # "late"; while the cluster forms also "no answer" (its address accepts connections), "other program" (responds there),
    # "not connected" (it started, but waits for the others)
    how: str
    reason: str
    stage: str | None = None  # the stage it was in: "import", "connect", "step 5"
    last_words: tuple[str, ...] = ()  # if a signal ended it: as in the fact of training


class WorkerLink(Struct, frozen=True, kw_only=True):
    """How fast two workers sum a tensor together, in host memory and over the network."""

    workers: tuple[str, str]
    sum_bytes: int
    seconds: float  # of one all-reduce of the two


class TrainingRun(Struct, kw_only=True):  # not frozen: the child fills it in while it trains
    """One training job: one strategy on one set of devices in one precision, as measured in the child."""

    strategy: str
    devices: tuple[str, ...]
    replicas: int
    backend: str = "tensorflow"  # Keras' backend: "tensorflow", "jax", "torch"
    loop: str | None = None  # what ran the steps: "fit", "train_step" (Keras' own step, traced once), "strategy.run"
    trained_with: int = 0  # other devices that trained at the same time, independently
    cross_device: str | None = None  # how gradients were exchanged, if that was chosen: "hierarchical_copy", ...
    workers: int | None = None  # processes that trained together; None: the one that trains everything else
    precision: str  # a Keras dtype policy: "float32", "mixed_float16", "mixed_bfloat16"
    status: str  # "passed" | "failed" | "skipped" | "timed_out"
    reason: str | None = None  # why it did not pass, in one sentence
    stage: str | None = None  # the stage it reached: "build", "first step", "steps", "verify", "xla"
    compiled: bool = False  # the training itself was compiled by XLA (jit_compile=True); JAX always does
    xla_verified: bool | None = None  # a small XLA-compiled step ran on the device as well; None: not tried
    xla_problem: str | None = None  # why it did not
    global_batch_size: int | None = None
    per_replica_batch_size: int | None = None
    drop_remainder: bool | None = None  # the last, smaller batch of the data is dropped
    steps: int | None = None
    steps_per_execution: int = 1  # steps run without returning to Python; loss and accuracy are reported once per execution
    samples_per_second: float | None = None  # median of the steps after the first
    step_seconds: float | None = None  # median of the steps after the first
    first_step_seconds: float | None = None  # including tracing, compiling and autotuning
    loss: Loss = Loss()
    losses_finite: bool | None = None
    loss_fell: bool | None = None
    accuracy: float | None = None  # share of correct predictions over the last third of the steps; chance is 0.1
    gradients_reach_weights: bool | None = None  # every trainable weight changed
    weights_finite: bool | None = None  # every trainable weight, on all replicas
    placement_verified: bool | None = None  # every heavy op of the step ran on the named device
    misplaced_ops: tuple[str, ...] = ()  # "Conv2D on CPU:0"
    replicas_equal: bool | None = None  # weights bitwise equal on all replicas; None for one replica
    output_dtype: str | None = None  # type of the softmax' result
    loss_scale: float | None = None  # of mixed_float16, after the last step
    tf32: bool | None = None  # float32 products may be rounded to TF32 on hardware that has it; None: on no GPU
    peak_memory_bytes: int | None = None  # device memory, as the framework's allocator counts it; None on a CPU
    cpu_first_loss: float | None = None  # first loss of the same model, data, seed and precision, computed on the CPU
    # measured after the run by the experiment "input_pipeline", in a separate loop from samples_per_second
    input_wait_share: float | None = None  # of a piped step's time, spent waiting for the input pipeline: 0 to 1
    piped_samples_per_second: float | None = None  # steps on the input pipeline
    device_samples_per_second: float | None = None  # the same steps on one resident batch, without an input pipeline
    # by the experiment "scaling", one device and several in the same loop; None on logical CPU devices, which share cores
    scaling_efficiency: float | None = None  # samples per second over devices times what one device alone does: 0 to 1
    doubled_batch_scaling_efficiency: float | None = None  # the same with twice the per-replica batch
    cluster: str | None = None  # what defines the workers: "this machine" (two), "TF_CONFIG", "Slurm", "mpirun", "Kubernetes"
    sharding: str | None = None  # how the data is divided among workers: a tf.data AutoShardPolicy, "DATA"
    shards_verified: bool | None = None  # each worker got distinct samples, and all samples were used
    fit_verified: bool | None = None  # Model.fit trains under this strategy as well; None: not tried separately
    fit_problem: str | None = None  # why it does not
    worker_names: tuple[str, ...] = ()  # "chief 0", "worker 0", in the cluster's order
    worker_versions: tuple[dict[str, str], ...] = ()  # one per worker: "tensorflow", "cuda", ...; empty: not determined
    worker_faults: tuple[WorkerFault, ...] = ()  # workers responsible for the failure
    worker_links: tuple[WorkerLink, ...] = ()  # pairs of workers, measured after the training
    note: str | None = None  # why it was trained this way


class Trained(Message):
    """How a job ended; the message's job is its id."""

    stage: ClassVar[str] = "train"
    run: TrainingRun


class XlaChecked(Message):
    """Whether a small step compiled by XLA ran; the job is the device."""

    stage: ClassVar[str] = "xla"
    verified: bool
    problem: str | None = None


class ExperimentResult(Message):
    """The result of an experiment; the job is its name."""

    stage: ClassVar[str] = "experiment"
    devices: tuple[str, ...] = ()
    figures: dict[str, float | None] = field(default_factory=dict)  # units in the names; None: unknown
    problem: str | None = None  # why the result is a fault
    skipped: str | None = None  # why it can't run on this machine
    run: TrainingRun | None = None  # the job that it measured further, with the new figures


class ExhaustionTask(Task):
    """Run out of memory on purpose."""

    child: ClassVar[str] = "exhaustion"
    package: ClassVar[str] = "training"
    examined: ClassVar[bool] = True
    gpu: int | None  # its number; None: the CPU


class LimitSet(Message):
    """Some steps were trained, and the memory was limited."""

    stage: ClassVar[str] = "build"
    loss: float
    limit_bytes: int | None = None
    problem: str | None = None  # why no limit can be set


class Exhausted(Message):
    """More memory than the limit was requested."""

    stage: ClassVar[str] = "exhaust"
    asked_bytes: int
    seconds: float
    error: str | None = None  # type of the exception; None: none was raised
    words: str | None = None


class Recovered(Message):
    """The same steps were trained again."""

    stage: ClassVar[str] = "recover"
    loss: float
