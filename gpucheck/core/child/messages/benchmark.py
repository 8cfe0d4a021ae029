"""Messages of the child of ``gpucheck bench``."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message, Task
from gpucheck.core.child.messages.struct import Struct, field


class BenchTask(Task):
    """Import TensorFlow, and wait for the configurations to measure."""

    child: ClassVar[str] = "bench"
    package: ClassVar[str] = "training"
    examined: ClassVar[bool] = True
    number: int  # which child of this run: each measures on its own
    tpu: bool = False  # connect to the TPU


class Combination(Struct, frozen=True):
    """One strategy on some devices, in one precision and batch size."""

    strategy: str
    devices: tuple[str, ...]
    precision: str
    xla: bool
    batch_size: int  # per replica; 0: that of the user's data
    steps_per_execution: int = 1  # without returning to Python


class Configuration(Combination, frozen=True):
    """A configuration to measure."""

    reason: str | None = None  # why it is not measured although it was requested

    @property
    def id(self) -> str:
        """The job of its messages, also for display: "mirrored on 2 GPUs, float32, batch 64, XLA"."""
        count = len(self.devices)
        on = f" on {count} {self.devices[0].partition(':')[0]}{'s' * (count > 1)}" if count else ""
        batch = f"batch {self.batch_size}" if self.batch_size else "default batch"
        executed = f", {self.steps_per_execution} steps per execution" if self.steps_per_execution > 1 else ""
        return f"{self.strategy}{on}, {self.precision}, {batch}{', XLA' * self.xla}{executed}"

    @property
    def folder(self) -> str:
        """Name of the folder of its trace."""
        executed = f"-steps{self.steps_per_execution}" if self.steps_per_execution > 1 else ""
        batch = f"-batch{self.batch_size}" if self.batch_size else ""
        return f"{self.strategy}-{len(self.devices)}-{self.precision}{batch}{'-xla' * self.xla}{executed}"


class BenchJob(Message):
    """From the parent: the configurations to measure."""

    cpu_devices: int  # logical CPU devices; 0: do not split the CPU
    configurations: list[Configuration]
    data: str  # "synthetic", "cifar10", or the path of an .npz file
    steps: int  # of an epoch; 0: a whole pass over the data
    epochs: int
    repeats: int
    target_accuracy: float | None
    profile: str | None  # folder of the traces
    model: str | None = None  # "MODULE:FUNCTION": the user's network and data

    def __post_init__(self) -> None:
        self.configurations = [Configuration(**item) if isinstance(item, dict) else item for item in self.configurations]


class DataLoaded(Message):
    """Whether the data can be trained on."""

    stage: ClassVar[str] = "data"
    problem: str | None = None
    samples: int | None = None  # None: endless


class Repeat(Struct):
    """One measurement of a configuration."""

    epoch_seconds: list[float]
    accuracies: list[float]  # after each epoch, on the held-out samples if there are any
    seconds_to_target: float | None = None  # None: the target accuracy was not reached, or there is none
    device_seconds: float = 0.0  # of as many steps as an epoch has, on one resident batch


class Traced(Struct, frozen=True, kw_only=True):
    """The time of a step from the profiler's trace, as the mean of the devices; the three parts add up to the step."""

    steps: int
    step_seconds: float  # tracing slows steps down
    device_seconds: float  # the device is busy
    input_seconds: float  # it is idle, and the step waits for the input pipeline
    host_seconds: float  # it is idle for any other reason: Python, dispatch


class Profile(Struct):
    """A trace of some steps."""

    folder: str
    problem: str | None = None  # why there is no trace, or no summary of it
    recorded: bool = False  # whether there is a trace
    traced: Traced | None = None


class Measured(Message):
    """Raw times of a configuration, in seconds; the job is its id."""

    stage: ClassVar[str] = "measure"
    problem: str | None = None
    generated: bool = False  # whether the user's function gave no data
    replicas: int = 0
    global_batch_size: int = 0
    steps: int = 0
    dropped_samples: int = 0  # of an epoch: they do not fill a batch
    held_out_samples: int = 0  # 0: the accuracy is that on the training data
    first_step_seconds: float = 0.0
    warmup_seconds: float = 0.0
    warmup_steps: int = 0
    repeats: list[Repeat] = field(default_factory=list)
    began: float = 0.0  # on the machine's monotonic clock
    ended: float = 0.0
    peak_memory_bytes: int | None = None
    profile: Profile | None = None
