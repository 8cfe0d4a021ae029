"""Messages of the children that import TensorFlow, JAX or PyTorch: their tasks, and their findings before training."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message, Task
from gpucheck.core.child.messages.struct import Struct, field

XLA_VARIABLES = ("XLA_FLAGS", "TF_XLA_FLAGS")


class FrameworkTask(Task):
    """Inspect TensorFlow, and train."""

    child: ClassVar[str] = "framework"
    package: ClassVar[str] = "training"
    examined: ClassVar[bool] = True
    smoke: bool  # whether to train
    level: int  # of the request: 0 to 2
    strategies: tuple[str, ...]  # empty: all of the level
    tpu: bool  # whether to connect to one
    logical_devices: int  # 0: the level's default
    log_device_placement: bool
    allow_cpu: bool = True  # whether to train on the CPU if CUDA has a GPU that TensorFlow does not list
    only: tuple[str, ...] = ()  # ids of jobs to train, one after the other and without experiments; empty: the whole plan
    cross_device: str | None = None  # how a mirrored strategy exchanges gradients (see ``strategies/mirrored.py``)
    soak_seconds: float | None = None  # how long to repeat the same computations; None: twice


class BackendTask(Task):
    """Inspect JAX or PyTorch, and train. KERAS_BACKEND or keras.json configures the backend of Keras."""

    child: ClassVar[str] = "backend"
    package: ClassVar[str] = "training"
    examined: ClassVar[bool] = True
    backend: str  # "jax", "torch"
    source: str  # where it was configured, as in ``BackendImport``
    smoke: bool  # whether to train
    level: int  # of the request: 0 to 2
    strategies: tuple[str, ...]  # empty: all
    logical_devices: int  # 0: the level's default


class BackendChosen(Message):
    """The backend that Keras is configured to use, before anything is imported."""

    stage: ClassVar[str] = "backend"
    name: str
    source: str  # "KERAS_BACKEND", the path of a keras.json, or "default"


class TensorFlowImport(Struct, frozen=True, kw_only=True):
    """The import of TensorFlow, and its build."""

    imported: bool | None = None
    import_seconds: float | None = None
    error_type: str | None = None  # "ImportError"
    error: str | None = None  # the exception's last line, or how the child ended: "killed by SIGBUS"
    shadows: dict[str, str] = field(default_factory=dict)  # of a failed import: module -> the user's file in its place
    keras_settings: str | None = None  # of a failed import: the invalid setting in keras.json, "PATH: floatx is ..."
    version: str | None = None
    path: str | None = None  # the imported package's folder
    built_with_cuda: bool | None = None
    built_with_rocm: bool | None = None
    cuda_version: str | None = None  # build info: "12.5.1"
    cudnn_version: str | None = None  # build info: "9"
    compute_capabilities: tuple[str, ...] = ()  # build info: "sm_60", "compute_90"


class TensorFlowImported(Message):
    """The result of importing TensorFlow."""

    stage: ClassVar[str] = "import"
    outcome: TensorFlowImport


class BackendImport(Struct, frozen=True, kw_only=True):
    """The import of the framework that Keras runs on, and its build."""

    name: str  # "tensorflow", "jax", "torch"; or a configured name that Keras does not support
    source: str  # "--backend", "KERAS_BACKEND", the path of keras.json, or "default"
    imported: bool | None = None  # None: for TensorFlow, or if the child was stopped before it reported
    import_seconds: float | None = None
    error_type: str | None = None  # "ModuleNotFoundError"
    error: str | None = None  # the exception's message, or how the child ended
    shadows: dict[str, str] = field(default_factory=dict)  # of a failed import: module -> the user's file in its place
    keras_settings: str | None = None  # of a failed import: the invalid setting in keras.json, "PATH: floatx is ..."
    version: str | None = None
    path: str | None = None  # the imported package's folder
    built_with_cuda: bool | None = None
    cuda_version: str | None = None  # "12.8"


class BackendImported(Message):
    """The result of importing JAX or PyTorch."""

    stage: ClassVar[str] = "import"
    outcome: BackendImport


class KerasImport(Struct, frozen=True, kw_only=True):
    """The import of Keras."""

    imported: bool | None = None
    error_type: str | None = None
    error: str | None = None
    shadows: dict[str, str] = field(default_factory=dict)  # of a failed import: module -> the user's file in its place
    keras_settings: str | None = None  # of a failed import: the invalid setting in keras.json, "PATH: floatx is ..."
    version: str | None = None
    backend: str | None = None  # "tensorflow", "jax", "torch"
    backend_source: str | None = None  # "--backend", "KERAS_BACKEND", the path of keras.json, or "default"
    legacy: bool | None = None  # tf.keras is Keras 2 (tf_keras, or Keras 2 itself)
    saving_error: str | None = None  # the exception of h5py, without which Keras can't save a model; empty: it was imported


class KerasImported(Message):
    """The result of importing Keras."""

    stage: ClassVar[str] = "keras"
    outcome: KerasImport


class Device(Struct, frozen=True, kw_only=True):
    """One physical device that TensorFlow lists."""

    name: str  # "GPU:0"
    kind: str  # "GPU", "CPU", "TPU"
    description: str | None = None  # "NVIDIA H200"
    compute_capability: tuple[int, int] | None = None


class DevicesListed(Message):
    """The physical devices; for JAX and PyTorch, accelerators first."""

    stage: ClassVar[str] = "devices"
    devices: tuple[Device, ...]
    problem: str | None = None  # why there is no accelerator: the framework's message


class MemoryGrowth(Struct, frozen=True, kw_only=True):
    """Whether TensorFlow can allocate GPU memory on demand. None without a GPU."""

    settable: bool | None = None  # accepted for every GPU before initialization
    same_on_all: bool | None = None
    refused_after: bool | None = None  # rejected after initialization, as documented (``GrowthRefused``)
    problem: str | None = None


class GrowthSet(Message):
    """Whether TensorFlow allowed memory growth, before it initialized any GPU."""

    stage: ClassVar[str] = "growth"
    growth: MemoryGrowth


class GrowthRefused(Message):
    """Whether TensorFlow rejected memory growth after the GPUs were initialized, as documented."""

    stage: ClassVar[str] = "growth after"
    refused: bool


class LibrariesMapped(Message):
    """The files of CUDA's libraries that are mapped into the process, by soname."""

    stage: ClassVar[str] = "mapped"
    paths: dict[str, str]


class TpuConnected(Message):
    """The result of connecting to a TPU."""

    stage: ClassVar[str] = "tpu"
    connected: bool
    devices: int | None = None
    error: str | None = None
