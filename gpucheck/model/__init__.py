"""The nouns: what a run observes, judges and reports. No I/O; of ours only the nouns of expectations are imported.

``Report`` is the one model of a run, JSON its serialised form. All is frozen and keyword-only; None is *unknown*, never "no".
"""

import enum
from typing import Any

import msgspec

from gpucheck.expectations import Expectations

SCHEMA_VERSION = "1.0"


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Base of everything a probe returns: plain fields, units in their names, None for unknown."""


class Level(enum.IntEnum):
    """How deep a run looks; each level contains those below it."""

    QUICK = 0
    DEFAULT = 1
    FULL = 2


class Severity(str, enum.Enum):
    """Error: this machine cannot train as asked, or its results can't be trusted. Warning: it trains, but fragilely."""

    ERROR = "error"
    WARNING = "warning"


class Scope(str, enum.Enum):
    """Who has to act. The order is the order of blame: what is broken below breaks what stands on it."""

    HARDWARE = "hardware"
    HOST = "host"
    ENVIRONMENT = "environment"
    CODE = "code"


class Status(str, enum.Enum):
    """What became of a rule. ``skipped`` means *could not look* and is never counted as healthy."""

    FOUND = "found"
    CLEAR = "clear"
    SKIPPED = "skipped"
    CRASHED = "crashed"


class ProbeStatus(str, enum.Enum):
    """What became of a probe; ``skipped`` is a probe that this run was not asked for."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    SKIPPED = "skipped"


class Verdict(str, enum.Enum):
    """The answer of a run; ``unknown`` is "could not look", with the reason in ``Report.unknown_because``."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


class ExitCode(enum.IntEnum):
    """Exit status of ``gpucheck check``."""

    HEALTHY = 0
    FAULT = 1
    USAGE = 2
    UNKNOWN = 3


class Request(Fact, frozen=True, kw_only=True):
    """What the user asked for; rules may read it like any other fact."""

    level: Level = Level.DEFAULT
    allow_cpu: bool = False
    smoke: bool = True
    strict: bool = False
    timeout_seconds: float = 120.0
    python: str | None = None  # another interpreter to examine; None: the one gpucheck runs in
    strategies: tuple[str, ...] = ()  # empty: every strategy that applies at this level
    backend: str | None = None  # the Keras backend to prove: "tensorflow", "jax", "torch"; None: the environment's own
    logical_devices: int = 0  # each GPU, or else the CPU, is split into so many; 0: as the level says
    log_device_placement: bool = False  # let TensorFlow's own account of every operation's device through
    expectations: Expectations | None = None  # None: nothing was said

    @property
    def other_backend(self) -> str | None:
        """The backend that was asked for in place of TensorFlow: "jax" or "torch". The run is about that one alone then."""
        return None if self.backend == "tensorflow" else self.backend

    @property
    def gpuless(self) -> bool:
        """Whether a TPU alone was asked for."""
        return set(self.strategies) == {"tpu"}

    @property
    def needs_gpu(self) -> bool:
        """Whether a GPU is missed where there is none."""
        return not (self.allow_cpu or self.gpuless)


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One probe's result: the fact, or the problem why there is none."""

    probe: str
    status: ProbeStatus
    fact: Fact | None = None
    problem: str | None = None
    seconds: float = 0.0


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One observed value a judgement rests on."""

    fact: str  # the probe's name
    field: str  # path inside the fact, such as ``gpus[3].memory_total_bytes``
    value: Any  # JSON-serialisable


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """One way to repair it: what to do, and the command where one exists for this machine."""

    text: str
    command: str | None = None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule returns when it holds. The summary is one sentence with the values, for somebody who knows no CUDA."""

    summary: str
    evidence: tuple[Evidence, ...]
    fix: tuple[Fix, ...]  # best first
    affects: tuple[str, ...] = ()  # "GPU 3", "worker 1"; empty: the whole machine
    severity: Severity | None = None  # None: the rule's own
    apart_from: tuple[str, ...] = ()  # codes that explain it in general, and which its own measurement excludes


class Skip(msgspec.Struct, frozen=True):
    """What a rule returns when it could not look."""

    reason: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one rule in one run."""

    code: str
    status: Status
    reason: str | None = None


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """A finding with everything a reader needs to act on it; ``explained_by`` names the root cause it follows from."""

    code: str
    row: str
    severity: Severity
    scope: Scope
    summary: str
    evidence: tuple[Evidence, ...]
    first_check: str
    fix: tuple[Fix, ...]
    affects: tuple[str, ...] = ()
    explained_by: str | None = None
    muted: str | None = None  # "REASON until DATE": it does not count for the verdict
    mute_expired: str | None = None  # "REASON until DATE": it was muted, and counts again


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """Training loss (sparse categorical cross-entropy) of the first and the last step; None: not finite."""

    first: float | None = None
    last: float | None = None
    first_third: float | None = None  # mean over the first third of the steps, with which ``loss_fell`` compares
    last_third: float | None = None  # the mean over the last third


class WorkerFault(msgspec.Struct, frozen=True, kw_only=True):
    """A worker by which a job of several failed."""

    worker: str  # "worker 1"
    # "ended" (by a signal or of itself), "raised", "stood still", "missing", "lost" (by the others), "port taken", "late"; while
    # the cluster forms also "no answer" (its address takes connections), "other program" (answers there), "apart" (it came)
    how: str
    reason: str
    stage: str | None = None  # the stage it was in: "import", "connect", "step 5"
    last_words: tuple[str, ...] = ()  # where a signal ended it: as in the fact of training


class TrainingRun(msgspec.Struct, frozen=True, kw_only=True):
    """One training job: one strategy on one set of devices in one precision, as measured in the child."""

    strategy: str
    devices: tuple[str, ...]
    replicas: int
    backend: str = "tensorflow"  # Keras' backend: "tensorflow", "jax", "torch"
    loop: str | None = None  # what ran the steps: "fit", "train_step" (Keras' own step, traced once), "strategy.run"
    trained_with: int = 0  # other devices that trained at the same time, independently
    cross_device: str | None = None  # how gradients were exchanged, where that was chosen: "hierarchical_copy", ...
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
    drop_remainder: bool | None = None  # a last, smaller batch of the data is left out
    steps: int | None = None
    steps_per_execution: int = 1  # between which Python has no part; loss and accuracy are then known once for all of them
    samples_per_second: float | None = None  # median of the steps after the first
    step_seconds: float | None = None  # median of the steps after the first
    first_step_seconds: float | None = None  # tracing, compiling and autotuning included
    loss: Loss = Loss()
    losses_finite: bool | None = None
    loss_fell: bool | None = None
    accuracy: float | None = None  # share of right answers over the last third of the steps; chance is 0.1
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
    # measured after the run by the experiment "input_pipeline", in a loop of its own; samples_per_second is another loop's
    input_wait_share: float | None = None  # of a piped step's time, spent waiting for the input pipeline: 0 to 1
    piped_samples_per_second: float | None = None  # steps on the input pipeline
    device_samples_per_second: float | None = None  # the same steps on one resident batch, without an input pipeline
    # by the experiment "scaling", one device and several in the same loop; None on logical CPU devices, which share cores
    scaling_efficiency: float | None = None  # samples per second over devices times what one device alone does: 0 to 1
    doubled_batch_scaling_efficiency: float | None = None  # the same with twice the per-replica batch
    cluster: str | None = None  # where workers are named: "this machine" (two started here), "TF_CONFIG", "Slurm", "Kubernetes"
    sharding: str | None = None  # how the data is divided among workers: a tf.data AutoShardPolicy, "DATA"
    shards_verified: bool | None = None  # each worker was fed samples that no other got, and all were fed
    fit_verified: bool | None = None  # Model.fit trains under this strategy as well; None: not tried apart
    fit_problem: str | None = None  # why it does not
    worker_names: tuple[str, ...] = ()  # "chief 0", "worker 0", in the cluster's order
    worker_versions: tuple[dict[str, str], ...] = ()  # one per worker: "tensorflow", "cuda", ...; empty: not asked
    worker_faults: tuple[WorkerFault, ...] = ()  # by whom the job failed
    note: str | None = None  # why it was trained so and not otherwise


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """Something tried beside the training jobs (one file of ``gpucheck/experiments``), and what it measured."""

    name: str
    status: str  # "passed" | "failed" | "skipped" | "timed_out"
    reason: str | None = None  # why it did not pass, in one sentence
    devices: tuple[str, ...] = ()
    figures: dict[str, float | None] = msgspec.field(default_factory=dict)  # units in the names; None: unknown
    note: str | None = None  # what was seen that is no figure, in one sentence


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """Which gpucheck wrote the report."""

    name: str = "gpucheck"
    version: str


class ProbeRun(msgspec.Struct, frozen=True, kw_only=True):
    """How one probe fared."""

    name: str
    status: ProbeStatus
    seconds: float
    problem: str | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One run, whole. Findings are sorted root cause first."""

    schema_version: str = SCHEMA_VERSION
    tool: Tool
    started_at: str  # RFC 3339, UTC
    seconds: float
    verdict: Verdict
    exit_code: int
    unknown_because: tuple[str, ...] = ()  # what could not be looked at, for the verdict "unknown"
    findings: tuple[Diagnosis, ...]
    training: tuple[TrainingRun, ...]
    experiments: tuple[Experiment, ...] = ()
    probes: tuple[ProbeRun, ...]
    outcomes: tuple[Outcome, ...]
    facts: dict[str, Any]  # probe name -> fact


def saw(fact: Fact, *fields: str) -> tuple[Evidence, ...]:
    """Evidence from fields of a probe's fact, named by the probe's module; dotted and indexed paths are followed.

    ``saw(gpus, "gpus[0].name")`` -> one piece of evidence. Raises AttributeError for a field that does not exist: a rule
    cannot cite what was never observed.
    """
    name = "request" if isinstance(fact, Request) else type(fact).__module__.rpartition(".")[2]
    return tuple(Evidence(fact=name, field=field, value=_follow(fact, field)) for field in fields)


def _follow(value: Any, path: str) -> Any:
    for part in path.replace("[", ".").replace("]", "").split("."):
        if part.isdigit() and isinstance(value, (list, tuple)):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value[part]
        else:
            value = getattr(value, part)
    return msgspec.to_builtins(value)
