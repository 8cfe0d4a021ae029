"""JAX as a backend of Keras: its import, devices and placement."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import re
from collections.abc import Iterable
from typing import Any

from gpucheck.core.child.messages.frameworks import Device, DevicesListed

TITLE = "JAX"
COMPILED = True  # always by XLA

_HOST_DEVICES = "--xla_force_host_platform_device_count"
_KINDS = {"cuda": "GPU", "rocm": "GPU"}
_devices: dict[str, Any] = {}  # JAX's own objects, by name
_peaks: dict[str, int] = {}  # bytes, by name


def prepare(cpu_devices: int) -> None:
    """Configure JAX before the import: split the CPU, and allocate GPU memory on demand instead of most of it at once."""
    flags = os.environ.get("XLA_FLAGS", "")
    if _HOST_DEVICES not in flags:
        os.environ["XLA_FLAGS"] = f"{flags} {_HOST_DEVICES}={cpu_devices}".strip()
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def load() -> dict[str, Any]:
    """Import JAX; return version and build as fields of ``BackendImport``. Raises any exception of the import."""
    import jax

    return {"version": str(jax.__version__), "path": os.path.dirname(jax.__file__ or ""), "built_with_cuda": _built_with_cuda()}


def _built_with_cuda() -> bool:
    """Whether CUDA is installed: as a separate plugin, or inside jaxlib in old releases."""
    for name in ("jax_plugins", "jaxlib"):
        spec = importlib.util.find_spec(name)
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            if any(entry.startswith(("xla_cuda", "cuda")) for entry in os.listdir(folder)):
                return True
    return False


def devices() -> DevicesListed:
    """List accelerators, then CPU devices; if there is no accelerator, with JAX's message if there is one."""
    import jax

    problem = None
    listed: list[Any] = []
    logged = _Logged()
    try:
        with logged:
            listed += jax.devices()
    except Exception as error:  # JAX_PLATFORMS selects a platform that fails to start
        problem = str(error)
    if not any(device.platform == "cpu" for device in listed):
        with contextlib.suppress(RuntimeError):
            listed += jax.devices("cpu")
    devices_of_jax = []
    for device in listed:
        kind = _KINDS.get(device.platform, device.platform.upper())
        name = f"{kind}:{device.id}"
        _devices[name] = device
        match = re.fullmatch(r"(\d+)\.(\d+)", str(getattr(device, "compute_capability", "")))
        capability = (int(match[1]), int(match[2])) if match else None
        description = None if kind == "CPU" else str(device.device_kind)
        devices_of_jax.append(Device(name=name, kind=kind, description=description, compute_capability=capability))
    if not problem and all(device.kind == "CPU" for device in devices_of_jax):
        problem = logged.errors[-1] if logged.errors else _why_not()
    return DevicesListed(tuple(devices_of_jax), " ".join(problem.split())[:500] if problem else None)


class _Logged(logging.StreamHandler):  # type: ignore[type-arg]
    """Records what JAX logs while it looks for platforms: a plugin that fails to start raises no exception."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[str] = []
        self._logger = logging.getLogger("jax")
        self._has_handlers = self._logger.hasHandlers()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep an exception's message; print warnings as Python does for a logger without handlers."""
        if record.exc_info and record.exc_info[1] is not None:
            self.errors.append(str(record.exc_info[1]))
        if not self._has_handlers and record.levelno >= logging.WARNING:
            super().emit(record)

    def __enter__(self) -> None:
        self._logger.addHandler(self)

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)


def _why_not() -> str | None:
    """Return why there is no accelerator: the choice of platforms, or JAX's error from starting CUDA."""
    platforms = os.environ.get("JAX_PLATFORMS", "")
    if platforms and not {"cuda", "gpu", "rocm", "tpu"} & set(platforms.split(",")):
        return f"JAX_PLATFORMS={platforms}"
    try:
        from jax._src import xla_bridge

        errors = xla_bridge._backend_errors
        return next((str(errors[name]) for name in ("cuda", "rocm") if name in errors), None)
    except (ImportError, AttributeError, TypeError):  # not a public interface: without it, the reason stays unknown
        return None


def seed(number: int) -> None:
    """Do nothing: Keras passes every seed to JAX."""


def comparable() -> bool:
    """Whether the CPU computes the same numbers: JAX draws the same ones everywhere, but may be configured without a CPU."""
    return "CPU:0" in _devices


def scope(names: list[str]) -> Any:
    """Return a context in which everything is computed on that device."""
    import jax

    return jax.default_device(_devices[names[0]])


def data_parallel(keras: Any, names: list[str]) -> Any:
    """Return the distribution in whose scope Keras copies the model to those devices and splits every batch."""
    platforms = [f"{_devices[name].platform}:{_devices[name].id}" for name in names]
    return keras.distribution.DataParallel(devices=platforms)


def no_data_parallel(keras: Any) -> str | None:
    """Return why Keras can't train on several devices; None: it can."""
    return None if hasattr(keras, "distribution") else f"Keras {keras.__version__} has no keras.distribution"


def places(variable: Any) -> set[str]:
    """Return the devices that hold a Keras variable."""
    by_device = {device: name for name, device in _devices.items()}
    return {by_device.get(device, str(device)) for device in variable.value.devices()}


def replicas_equal(variables: Iterable[Any]) -> bool | None:
    """Whether every device holds the same bits of every variable; None: there is one device."""
    import numpy as np

    equal = None
    for variable in variables:
        copies = [np.asarray(shard.data).tobytes() for shard in variable.value.addressable_shards]
        if len(copies) > 1:
            equal = equal is not False and all(copy == copies[0] for copy in copies)
    return equal


def reset_peak(names: list[str]) -> None:
    """Keep JAX's count, which can't be reset, to detect a new peak."""
    _peaks.update({name: _stat(name) or 0 for name in names})


def peak(names: list[str]) -> int | None:
    """Return the peak bytes in use on one device since ``reset_peak``; None: not reported, or no new peak."""
    return max((peak_bytes for name in names if (peak_bytes := _stat(name) or 0) > _peaks.get(name, 0)), default=None)


def _stat(name: str) -> int | None:
    try:
        return (_devices[name].memory_stats() or {}).get("peak_bytes_in_use")
    except Exception:  # not every platform reports it
        return None


def tf32() -> bool | None:
    """Whether float32 products use TF32; None unless ``jax_default_matmul_precision`` is set: XLA chooses."""
    import jax

    chosen = getattr(jax.config, "jax_default_matmul_precision", None)
    return {"float32": False, "highest": False, "tensorfloat32": True}.get(str(chosen))
