"""The data model of a benchmark. All figures are measured; null: not measured."""

import msgspec

from gpucheck.core.child.messages.benchmark import Combination, Traced

SCHEMA_VERSION = "1.0"
FORMATS = ("terminal", "json", "csv", "html")
NETWORK = "smoke network: three convolutions, 32 x 32 x 3, 10 classes; Adam; seed fixed"


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """The user's request; empty or 0: the default for the detected devices."""

    strategies: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()  # Keras dtype policies
    batch_sizes: tuple[int, ...] = ()  # per replica
    global_batch_sizes: tuple[int, ...] = ()  # total of all replicas, instead of per replica
    steps_per_execution: tuple[int, ...] = ()  # steps that run without returning to Python
    devices: tuple[int, ...] = ()  # numbers of devices
    xla: str = "off"  # "on", "off" or "both"
    steps: int = 0  # per epoch
    epochs: int = 0
    repeats: int = 3
    price_per_hour: float | None = None  # price of the whole machine, in the user's currency
    target_accuracy: float | None = None  # 0 to 1
    data: str = "synthetic"  # or "cifar10", or the path of an .npz file
    model: str | None = None  # "MODULE:FUNCTION" that returns the user's network, and data
    allow_cpu: bool = False
    profile: str | None = None  # folder


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """A figure over all repeats: the median is the result, minimum and maximum show its reliability."""

    median: float
    minimum: float
    maximum: float
    values: tuple[float, ...]  # in the order of the repeats


class GpuLoad(msgspec.Struct, frozen=True, kw_only=True):
    """Medians of NVML's values for one GPU during the measured steps; null: unknown."""

    device: str  # TensorFlow's name, "GPU:0"
    samples: int
    utilization_percent: float | None = None
    power_watts: float | None = None
    sm_clock_mhz: float | None = None
    clock_event_reasons: tuple[str, ...] = ()  # all observed reasons for a lower clock
    slowed_by: tuple[str, ...] = ()  # the reasons that are a fault: heat, or a power supply


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """NVML's values for one GPU at one time; null: unknown."""

    seconds: float  # since the start of the run
    device: str  # TensorFlow's name, "GPU:0"
    utilization_percent: float | None = None
    power_watts: float | None = None
    sm_clock_mhz: float | None = None


class Measurement(Combination, frozen=True, kw_only=True):
    """One configuration and its results."""

    status: str  # "measured", "failed", "not-measured"
    reason: str | None = None  # why it was not measured; None: it was measured
    replicas: int | None = None
    global_batch_size: int | None = None
    steps: int | None = None  # per epoch
    dropped_samples: int | None = None  # per epoch, because they do not fill a batch
    held_out_samples: int | None = None  # 0: the accuracy is measured on the training data
    repeats: int = 0
    epochs: tuple[int, ...] = ()  # number per repeat; a repeat ends early at the target accuracy
    first_step_seconds: float | None = None  # including tracing, compiling and autotuning
    warmup_seconds: float | None = None  # all warm-up steps, including the first; excluded from all other figures
    warmup_steps: int | None = None
    samples_per_second: Spread | None = None  # on the input pipeline
    step_seconds: Spread | None = None
    epoch_seconds: Spread | None = None
    device_samples_per_second: Spread | None = None  # on one resident batch
    device_step_seconds: Spread | None = None
    input_wait_share: Spread | None = None  # share of a step's time spent waiting for the input pipeline: 0 to 1
    peak_memory_bytes: int | None = None  # maximum of the devices, from TensorFlow's allocator; null on a CPU
    gpus: tuple[GpuLoad, ...] = ()
    accuracy: Spread | None = None  # on the held-out samples, after the last epoch of each repeat
    seconds_to_target: Spread | None = None  # null if a repeat did not reach it
    scaling: str | None = None  # "weak": relative to one device with the same batch per replica; "strong": the same global batch
    scaling_efficiency_percent: float | None = None  # null if one device was not measured in the same way
    cost_per_epoch: float | None = None
    cost_to_target: float | None = None
    profile: str | None = None  # folder of the trace
    traced: Traced | None = None  # summary of the trace
    profile_problem: str | None = None  # why there is no trace, or no summary
    began_seconds: float | None = None  # start of the measured steps, without warm-up and trace, since the start of the run
    ended_seconds: float | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One run of ``gpucheck bench``."""

    schema_version: str = SCHEMA_VERSION
    tool: dict[str, str]
    started_at: str  # RFC 3339, UTC
    seconds: float
    ended: str  # "finished", "interrupted", "timed out"
    versions: dict[str, str]
    hardware: tuple[str, ...]  # a line for each device that TensorFlow lists
    model: str = NETWORK
    ask: Ask
    measurements: tuple[Measurement, ...] = ()
    samples: tuple[Sample, ...] = ()  # GPU samples of the whole run; thinned out for a long run
    notes: tuple[str, ...] = ()
