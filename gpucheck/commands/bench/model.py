"""The nouns of a benchmark. Everything in them was measured; what was not is null."""

import msgspec

from gpucheck.core.child.messages.benchmark import Combination, Traced

SCHEMA_VERSION = "1.0"


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What the user wants measured; empty and 0: the default for the devices that are found."""

    strategies: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()  # Keras dtype policies
    batch_sizes: tuple[int, ...] = ()  # per replica
    devices: tuple[int, ...] = ()  # how many
    xla: str = "off"  # "on", "off" or "both"
    steps: int = 0  # of an epoch
    epochs: int = 0
    repeats: int = 3
    price_per_hour: float | None = None  # of the whole machine, in the user's currency
    target_accuracy: float | None = None  # 0 to 1
    data: str = "synthetic"  # or "cifar10", or the path of an .npz file
    allow_cpu: bool = False
    profile: str | None = None  # folder


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of every repeat: the median counts, the ends say how far to trust it."""

    median: float
    minimum: float
    maximum: float
    values: tuple[float, ...]  # in the order of the repeats


class GpuLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Medians of what NVML said of one GPU while a configuration was measured; null: it did not say."""

    device: str  # TensorFlow's name, "GPU:0"
    samples: int
    utilization_percent: float | None = None
    power_watts: float | None = None
    sm_clock_mhz: float | None = None
    clock_event_reasons: tuple[str, ...] = ()  # why the clock was held down, every reason that was seen
    slowed_by: tuple[str, ...] = ()  # those of them that are a fault: heat, or a power supply


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """What NVML said of one GPU at one moment; null: it did not say."""

    seconds: float  # since the run began
    device: str  # TensorFlow's name, "GPU:0"
    utilization_percent: float | None = None
    power_watts: float | None = None
    sm_clock_mhz: float | None = None


class Measurement(Combination, frozen=True, kw_only=True):
    """One configuration: what was trained, and how fast it was."""

    status: str  # "measured", "failed", "not-measured"
    reason: str | None = None  # why not
    replicas: int | None = None
    global_batch_size: int | None = None
    steps: int | None = None  # of one epoch
    repeats: int = 0
    epochs: tuple[int, ...] = ()  # of each repeat: a target accuracy may end it early
    first_step_seconds: float | None = None  # tracing, compiling and autotuning included
    warmup_seconds: float | None = None  # all warm-up steps, that one included; in no other figure
    warmup_steps: int | None = None
    samples_per_second: Spread | None = None  # on the input pipeline
    step_seconds: Spread | None = None
    epoch_seconds: Spread | None = None
    device_samples_per_second: Spread | None = None  # on one resident batch
    device_step_seconds: Spread | None = None
    input_wait_share: Spread | None = None  # 0 to 1, of a step's time, spent waiting for the input pipeline
    peak_memory_bytes: int | None = None  # of the fullest device, as TensorFlow counts it; null on a CPU
    gpus: tuple[GpuLoad, ...] = ()
    accuracy: Spread | None = None  # on the training data, over the last epoch of each repeat
    seconds_to_target: Spread | None = None  # null where a repeat did not reach it
    scaling_efficiency_percent: float | None = None  # null where one device was not measured likewise in this run
    cost_per_epoch: float | None = None
    cost_to_target: float | None = None
    profile: str | None = None  # folder of the trace
    traced: Traced | None = None  # what the trace says
    profile_problem: str | None = None  # why there is no trace, or no sum of it
    began_seconds: float | None = None  # since the run began: the measured steps, without warm-up and trace
    ended_seconds: float | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One run of ``gpucheck bench``."""

    schema_version: str = SCHEMA_VERSION
    tool: dict[str, str]
    started_at: str  # RFC 3339, UTC
    seconds: float
    ended: str  # "finished", "interrupted", "timed out"
    versions: dict[str, str]
    hardware: tuple[str, ...]  # a line for each device TensorFlow lists
    model: str = "smoke network: three convolutions, 32 x 32 x 3, 10 classes; Adam; seed fixed"
    ask: Ask
    measurements: tuple[Measurement, ...] = ()
    samples: tuple[Sample, ...] = ()  # of the GPUs, from beginning to end; of a long run not every one
    notes: tuple[str, ...] = ()
