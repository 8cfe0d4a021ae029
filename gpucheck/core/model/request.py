"""What the user requested, and what is expected of the machine: the rules of the row ``expectation`` check that.

In every struct of expectations ``None`` or an empty value means that nothing is expected.
"""

import datetime

import msgspec

from gpucheck.core.model.fact import Fact
from gpucheck.core.model.kinds import Level

TIMEOUT_SECONDS = {
    Level.NODE: 10.0,
    Level.QUICK: 120.0,
    Level.DEFAULT: 120.0,
    Level.FULL: 300.0,
}  # default time limit of a whole run


class GpuExpectations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected GPUs; each must meet the minimums."""

    count: int | None = None  # exact number that this process can use
    names: tuple[str, ...] = ()  # allowed names of each GPU: exact, or a pattern with * and ?
    memory_gib: float | None = None  # minimum
    compute_capability: str | None = None  # minimum: "9.0"


class VersionExpectations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Versions as PEP 440 specifiers: ">=580,<581"."""

    driver: str | None = None  # NVIDIA's driver: "580.159.04"
    cuda: str | None = None  # newest CUDA that the driver supports, as nvidia-smi shows it
    cudnn: str | None = None
    tensorflow: str | None = None
    keras: str | None = None
    python: str | None = None


class TrainingExpectations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected results of training jobs."""

    strategies: tuple[str, ...] = ()  # must pass
    max_first_step_seconds: float | None = None  # of each job that is not fully compiled by XLA
    min_samples_per_second: dict[str, dict[str, float]] = msgspec.field(default_factory=dict)  # strategy -> precision -> speed


class FitExpectations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The expected figures of the user's own training: of the summary that ``Watch(report="fit.json")`` writes."""

    device: str | None = None  # "GPU"
    min_samples_per_second: float | None = None
    max_step_seconds: float | None = None
    max_first_step_seconds: float | None = None
    max_input_wait_percent: float | None = None  # of a step
    min_gpu_percent: float | None = None  # utilization of every GPU


class Mute(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A known finding that the verdict ignores, up to and including a day (UTC)."""

    code: str
    reason: str
    until: datetime.date


class Expectations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All expectations of a machine."""

    gpu: GpuExpectations = GpuExpectations()
    versions: VersionExpectations = VersionExpectations()
    training: TrainingExpectations = TrainingExpectations()
    fit: FitExpectations = FitExpectations()  # only `gpucheck compare FILE fit.json` judges it
    environment: dict[str, str | bool] = msgspec.field(default_factory=dict)  # variable -> exact value; false: not set
    allowed_warnings: tuple[str, ...] = ()  # codes that do not fail with --strict
    mute: tuple[Mute, ...] = ()


class PromisedGpus(Fact, frozen=True, kw_only=True):
    """How many GPUs a scheduler assigns on this machine."""

    count: int | None  # None: unknown, ``source`` is the reason
    source: str  # "Gres of n1 in /etc/slurm/slurm.conf"


class Request(Fact, frozen=True, kw_only=True):
    """The user's request; rules can use it like any other fact."""

    level: Level = Level.DEFAULT
    allow_cpu: bool = False
    smoke: bool = True
    strict: bool = False
    timeout_seconds: float = 120.0
    python: str | None = None  # another interpreter to examine; None: the one gpucheck runs in
    strategies: tuple[str, ...] = ()  # empty: every strategy that applies at this level
    backend: str | None = None  # the Keras backend to test: "tensorflow", "jax", "torch"; None: the configured one
    logical_devices: int = 0  # how many to split each GPU into, or else the CPU; 0: the level's default
    log_device_placement: bool = False  # print TensorFlow's own log of each operation's device
    soak_minutes: float = 0.0  # how long to repeat the same computations and compare their results
    expectations: Expectations | None = None  # None: none given
    promised: PromisedGpus | None = None  # None: no scheduler given

    @property
    def other_backend(self) -> str | None:
        """The requested backend if it is not TensorFlow: "jax" or "torch". The run then tests only that backend."""
        return None if self.backend == "tensorflow" else self.backend

    @property
    def gpuless(self) -> bool:
        """Whether only a TPU was requested."""
        return set(self.strategies) == {"tpu"}

    @property
    def needs_gpu(self) -> bool:
        """Whether the run requires a GPU."""
        return not (self.allow_cpu or self.gpuless)
