"""The summary of a Keras fit, which ``gpucheck.keras.Watch`` writes as JSON and ``gpucheck compare`` reads."""

import msgspec


class GpuUse(msgspec.Struct, frozen=True, kw_only=True):
    """The use of a GPU during the fit."""

    index: int  # NVML's index
    utilization_percent: float | None = None  # mean of the samples
    throttled_share: float | None = None  # share of the samples, throttled by heat or the power supply
    peak_bytes: int | None = None  # TensorFlow's peak memory since the process started
    total_bytes: int | None = None


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """A validation metric."""

    name: str  # "val_accuracy"
    last: float
    best: float
    best_epoch: int  # from 1
    best_after_seconds: float  # since the start of the fit


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """What limits the speed, and a remedy."""

    text: str  # sentences
    code: str | None = None  # diagnosis; None: no fault
    faster_at_most: float | None = None  # maximum factor if this limit alone were removed; calculated, not measured

    def __str__(self) -> str:
        return f"{self.text} [{self.code}]" if self.code else self.text


class FitSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one fit; None: unknown."""

    seconds: float  # time of the whole fit
    epochs: int  # finished epochs
    steps: int
    interrupted: str | None = None  # where an exception ended the fit: "in epoch 3", "after epoch 3"
    epoch_seconds: tuple[float, ...] = ()  # time of each epoch, including validation
    median_epoch_seconds: float | None = None
    first_step_seconds: float | None = None  # including tracing and compilation; excluded from all other figures of steps
    step_seconds: float | None = None  # mean of the other steps
    samples_per_second: float | None = None
    input_wait_share: float | None = None  # share of the steps' time, 0 to 1
    input_wait_exact: bool = True  # False: an upper bound, because data may have been fetched while a device computed
    backend: str | None = None  # Keras' backend
    device: str | None = None  # type of the device that holds the model: "CPU", "GPU"
    replicas: int = 1  # number in this process
    worker: int = 0  # number of this worker among those that train together
    workers: int = 1
    gpus: tuple[GpuUse, ...] = ()  # GPUs that this process may use
    validation: Metric | None = None
    limit: Limit | None = None
    events: tuple[tuple[str, str], ...] = ()  # code and sentence of each problem that was reported
