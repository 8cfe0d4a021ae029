"""Inspect TensorFlow and Keras: the import, the build, the devices, memory growth, the libraries that are mapped."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from typing import Any, TypeVar

from gpucheck.core.child.messages.frameworks import (
    BackendChosen,
    BackendImport,
    Device,
    DevicesListed,
    GrowthRefused,
    GrowthSet,
    KerasImport,
    KerasImported,
    LibrariesMapped,
    MemoryGrowth,
    TensorFlowImport,
    TensorFlowImported,
)
from gpucheck.core.child.messages.struct import replace
from gpucheck.core.child.runtime import Reporter
from gpucheck.core.system.shadowing import shadowing_files

AnyImport = TypeVar("AnyImport", TensorFlowImport, BackendImport, KerasImport)
OTHER_BACKENDS = ("jax", "torch")  # backends of Keras 3 other than TensorFlow
SETTINGS: dict[str, tuple[Any, ...]] = {  # of keras.json: key -> values that Keras accepts; a float: any float
    "floatx": ("float32", "float16", "float64"),
    "epsilon": (1e-7,),
    "image_data_format": ("channels_last", "channels_first"),
}
LIBRARY = re.compile(
    r"/(lib(?:cuda|nvidia-ml|cudart|cublas|cublasLt|cufft|cusolver|cusparse|cudnn|nccl|nvrtc|nvJitLink|cupti|tpu)[\w-]*\.so[.\d]*)$"
)


@contextlib.contextmanager
def without_gc() -> Iterator[None]:
    """Disable garbage collection during a large import, and exclude its objects from later collections.

    Collection takes a sixth of the time of ``import tensorflow`` and later 0.2 s per run, and frees nothing.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def import_tensorflow(reporter: Reporter) -> Any | None:
    """Import TensorFlow, and report seconds and build, or the exception. Return None if it failed.

    From then on, a crash writes the Python calls to the log.
    """
    faulthandler.enable()
    reporter.begin(TensorFlowImported)
    started = time.perf_counter()
    try:
        with without_gc():
            import tensorflow as tf

        version = tf.__version__  # an empty or shadowed package imports without a version
    except BaseException as error:
        reporter.end(TensorFlowImported(failed(TensorFlowImport, error)))
        return None
    seconds = time.perf_counter() - started
    outcome = replace(build(tf), import_seconds=round(seconds, 3), version=str(version), path=os.path.dirname(tf.__file__ or ""))
    reporter.end(TensorFlowImported(outcome))
    return tf


def list_devices(reporter: Reporter, tf: Any) -> list[str]:
    """Report the physical devices with TensorFlow's details of each; return their names ("GPU:0")."""
    reporter.begin(DevicesListed)
    devices = []
    for device in tf.config.list_physical_devices():
        details: dict[str, Any] = {}
        if device.device_type == "GPU":
            with contextlib.suppress(Exception):  # details are optional
                details = tf.config.experimental.get_device_details(device)
        capability = details.get("compute_capability")
        if not device.device_type.startswith("XLA_"):
            devices.append(
                Device(
                    name=name_of(device),
                    kind=device.device_type,
                    description=details.get("device_name"),
                    compute_capability=tuple(capability) if capability else None,
                )
            )
    reporter.end(DevicesListed(tuple(devices)))
    return [device.name for device in devices]


def memory_growth(reporter: Reporter, tf: Any) -> None:
    """Enable memory growth on every GPU, before anything initializes them."""
    reporter.begin(GrowthSet)
    gpus = tf.config.list_physical_devices("GPU")
    growth = MemoryGrowth()
    if gpus:
        try:
            for gpu in gpus:
                tf.config.experimental.set_memory_growth(gpu, True)
            states = {tf.config.experimental.get_memory_growth(gpu) for gpu in gpus}
            growth = MemoryGrowth(settable=True, same_on_all=len(states) == 1)
        except Exception as error:
            growth = MemoryGrowth(settable=False, problem=f"{type(error).__name__}: {error}"[:500])
    reporter.end(GrowthSet(growth))


def growth_refused(reporter: Reporter, tf: Any, usable: list[str]) -> None:
    """Report whether TensorFlow rejects a change of memory growth after the GPUs are initialized, as documented."""
    gpus = [gpu for gpu in tf.config.get_visible_devices("GPU") if name_of(gpu) in usable]
    if not gpus:
        return
    reporter.begin(GrowthRefused)
    try:
        tf.config.experimental.set_memory_growth(gpus[0], False)
        refused = False
    except RuntimeError:
        refused = True
    reporter.end(GrowthRefused(refused))


def mapped_libraries(reporter: Reporter) -> None:
    """Report the library files mapped into this process, by soname: what the loader chose, independent of the search path."""
    from gpucheck.core.child.loader import mapped_files  # not earlier: a user's file may shadow ctypes for TensorFlow

    reporter.begin(LibrariesMapped)
    matches = (LIBRARY.search(path) for path in mapped_files())
    reporter.end(LibrariesMapped({match[1]: match.string for match in matches if match}))


def import_keras(reporter: Reporter, tf: Any = None) -> tuple[Any, str | None]:
    """Import Keras as a user of this environment gets it; return the module to train with, and its backend.

    Args:
        reporter: the report to the parent.
        tf: TensorFlow, whose ``tf.keras`` may be an older one; None: not imported.
    """
    reporter.begin(KerasImported)
    try:
        with without_gc():
            import keras

        version = str(keras.__version__)
        backend = keras.backend.backend() if version.startswith("3") else "tensorflow"
        legacy = not (version if tf is None else _version_of_tf_keras(tf, version)).startswith("3")
    except BaseException as error:
        source, configured = backend_source()  # the configured backend may be the cause
        reporter.end(KerasImported(failed(KerasImport, error, backend=configured, backend_source=source)))
        return None, None
    source, _ = backend_source()
    outcome = KerasImport(imported=True, version=version, backend=backend, backend_source=source, legacy=legacy)
    reporter.end(KerasImported(replace(outcome, saving_error=_saving_error())))
    return (tf.keras if legacy and tf is not None else keras), backend


def _saving_error() -> str:
    """Return why Keras can't save a model, or "". Keras ignores an ImportError of h5py, and raises another in `model.save`."""
    try:
        import h5py  # noqa: F401  # Keras has imported it, so this costs nothing
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:500]
    return ""


def _version_of_tf_keras(tf: Any, version: str) -> str:
    """Return the version of ``tf.keras``; ``version`` if it has none. Loads tf_keras if TF_USE_LEGACY_KERAS selects it.

    Raises:
        Exception: tf_keras can't be imported.
    """
    if os.environ.get("TF_USE_LEGACY_KERAS") and tf.keras.Sequential.__module__.startswith("tf_keras."):
        return str(sys.modules["tf_keras"].__version__)
    return str(getattr(tf.keras, "__version__", version))


def backend_source() -> tuple[str, str | None]:
    """Return where Keras 3 reads its backend from, and the value: KERAS_BACKEND, a keras.json, or the default."""
    if os.environ.get("KERAS_BACKEND"):
        return "KERAS_BACKEND", os.environ["KERAS_BACKEND"]
    path, settings = _settings()
    backend = settings.get("backend") if isinstance(settings, dict) else None
    # Keras itself writes the file with the default on first import: only another value is a choice of the user.
    return (path, backend) if backend and backend != "tensorflow" else ("default", None)


def _settings() -> tuple[str, Any]:
    """Return the path of keras.json, and its content; an empty dictionary if it can't be read, as in Keras."""
    path = os.path.join(os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras"), "keras.json")
    try:
        with open(path) as file:
            return path, json.load(file)
    except (OSError, ValueError):
        return path, {}


def unusable_settings() -> str | None:
    """Return the setting in keras.json that makes the import of Keras fail: "PATH: floatx is 'float13'"; None: there is none.

    See keras/src/backend/config.py of Keras 3, keras/src/backend_config.py of Keras 2.
    """
    path, settings = _settings()
    if not isinstance(settings, dict):
        return f"{path}: it holds {json.dumps(settings)[:40]}, not an object of settings"
    for key, allowed in SETTINGS.items():
        value = settings.get(key, allowed[0])
        if value not in allowed if isinstance(allowed[0], str) else not isinstance(value, float):
            expected = f"one of {', '.join(allowed)}" if isinstance(allowed[0], str) else "a number with a decimal point"
            return f"{path}: {key} is {json.dumps(value)[:40]}, not {expected}"
    return None


def report_backend(reporter: Reporter) -> bool:
    """Report, before any import, which backend Keras is configured to use; return whether it is JAX or PyTorch."""
    reporter.begin(BackendChosen)
    source, name = backend_source()
    if name in OTHER_BACKENDS and (installed_version("keras") or "").startswith("2."):
        source, name = "default", None  # Keras 2 supports only TensorFlow, and ignores these settings
    reporter.end(BackendChosen(name or "tensorflow", source))
    return name in OTHER_BACKENDS


def installed_version(distribution: str) -> str | None:
    """Return the version of an installed distribution; None: it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def name_of(device: Any) -> str:
    """Return the short name of a physical or logical device: "GPU:0"."""
    return ":".join(device.name.split(":")[-2:]).split("/")[-1]


def build(tf: Any) -> TensorFlowImport:
    """Return what TensorFlow was built with."""
    try:
        info = dict(tf.sysconfig.get_build_info())
    except Exception:
        info = {}
    return TensorFlowImport(
        imported=True,
        built_with_cuda=bool(info["is_cuda_build"]) if "is_cuda_build" in info else tf.test.is_built_with_cuda(),
        built_with_rocm=bool(info["is_rocm_build"]) if "is_rocm_build" in info else tf.test.is_built_with_rocm(),
        cuda_version=info.get("cuda_version"),
        cudnn_version=str(info["cudnn_version"]) if info.get("cudnn_version") else None,
        compute_capabilities=tuple(str(item) for item in info.get("cuda_compute_capabilities", [])),
    )


def failed(kind: type[AnyImport], error: BaseException, **known: Any) -> AnyImport:
    """Describe a failed import: files that shadow modules, settings that may cause it, and known fields; log the traceback."""
    try:
        import traceback

        traceback.print_exc()  # complete, for the log
    except Exception:  # a user's file shadows a module that traceback imports
        sys.__excepthook__(type(error), error, error.__traceback__)
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return kind(
        imported=False,
        error_type=type(error).__name__,
        error=" ".join(lines)[:1000] or type(error).__name__,
        shadows=shadowing_files(error),
        keras_settings=unusable_settings() if _through_keras(error) else None,
        **known,
    )


def _through_keras(error: BaseException) -> bool:
    """Whether an exception was raised in Keras' own files."""
    place, file = error.__traceback__, ""
    while place is not None:
        file = place.tb_frame.f_code.co_filename
        place = place.tb_next
    return "/keras/" in file.replace("\\", "/")
