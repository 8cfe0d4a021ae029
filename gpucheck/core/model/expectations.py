"""The expectations of a machine: part of the request, checked by the rules of the row ``expectation``.

In every struct ``None`` or an empty value means that nothing is expected.
"""

import datetime

import msgspec


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
    """A known finding that does not count, up to and including a day (UTC)."""

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
