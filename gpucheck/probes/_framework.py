"""The children that import a framework, and which of them trains: one for TensorFlow, one for Keras on JAX or PyTorch."""

import json
from typing import NamedTuple

from gpucheck.compat import keras
from gpucheck.host import Child, Host
from gpucheck.probes import limits, tpu


class Backend(NamedTuple):
    """What Keras runs on, and who says so: "--backend", "KERAS_BACKEND", the path of a keras.json, or "default"."""

    name: str
    source: str


def backend(host: Host) -> Backend:
    """The backend to prove: the one that is asked for, else the one that the environment tells Keras to take."""
    if host.request.backend is not None:
        return Backend(host.request.backend, "--backend")
    told = child(host).until("backend") or {"name": keras.BACKENDS[0], "source": "default"}
    return Backend(told["name"], told["source"])


def elsewhere(host: Host) -> str | None:
    """The backend that Keras trains on, where it is not TensorFlow's but one that can train."""
    name = backend(host).name
    return name if name in keras.OTHERS else None


def trainer(host: Host) -> Child:
    """The child that trains: TensorFlow's, or that of the other backend."""
    return other(host) if elsewhere(host) else child(host)


def other(host: Host) -> Child:
    """The child that imports JAX or PyTorch, started by whichever probe asks first. Its limit is the run's own."""
    request = host.request
    settings = {
        "backend": backend(host).name,
        "smoke": request.smoke,
        "level": int(request.level),
        "strategies": list(request.strategies),
        "logical_devices": request.logical_devices,
    }
    return host.child("backend", json.dumps(settings, sort_keys=True), limit=request.timeout_seconds)


def child(host: Host, only: tuple[str, ...] = (), cross_device: str | None = None) -> Child:
    """The framework child, started by whichever probe asks first. Its limit is the run's own.

    What it does is decided by the request alone, except that it tries a TPU only where something says one should be here.

    Args:
        host: the machine.
        only: stages of the plan to train once more, alone; they get a child of their own.
        cross_device: how a mirrored strategy shall exchange gradients then (see ``gpucheck/strategies/mirrored.py``).
    """
    request = host.request
    settings = {
        "smoke": request.smoke,
        "level": int(request.level),
        "strategies": list(request.strategies),
        "tpu": tpu.read(host).expected,
        "logical_devices": request.logical_devices,
        "log_device_placement": request.log_device_placement,
        "only": list(only),
        "cross_device": cross_device,
    }
    return host.child("framework", json.dumps(settings, sort_keys=True), limit=host.request.timeout_seconds)


def oom_killed(host: Host, how: str | None, before: int | None) -> int | None:
    """Processes that the kernel has killed for want of memory since ``before``; None unless the child ended by SIGKILL."""
    after = limits.oom_kills(host) if how == "killed by SIGKILL" and before is not None else None
    return None if after is None or before is None else after - before
