"""The children that import a framework, and which of them trains: one for TensorFlow, one for Keras on JAX or PyTorch.

Where connecting to a TPU fails, a second one of TensorFlow's trains on what else there is: a process in which it failed may hang,
die, or no longer let its devices be set up.
"""

import json
from typing import Any, NamedTuple

from gpucheck.compat import keras
from gpucheck.host import Child, Host
from gpucheck.probes import limits, tpu

TPU_SECONDS = 60.0  # to connect; half of the time that is left, if that is less: the other half is for what else can train


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
    """The child that trains: TensorFlow's first or second one, or that of the other backend."""
    if elsewhere(host):
        return other(host)
    answer = connection(host) if host.request.smoke else None
    return child(host) if answer is None or answer["connected"] else _started(host, tpu=False)


def connection(host: Host) -> dict[str, Any] | None:
    """What came of connecting to the TPU: ``connected``, ``devices`` and ``error``; None: it was not tried, or not come to."""
    if not tpu.read(host).expected or child(host).until("keras") is None:
        return None
    framework, seconds = child(host), min(TPU_SECONDS, host.remaining() / 2)
    answer = framework.until("tpu", within=seconds)
    if answer is None and (ending := framework.end()).stage == "tpu":
        late = f"no answer within {seconds:.0f} s"
        answer = {"connected": False, "error": late if ending.how == "timed out" else f"TensorFlow's process was {ending.how}"}
    return answer


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


def child(host: Host) -> Child:
    """The framework child, started by whichever probe asks first. Its limit is the run's own.

    What it does is decided by the request alone, except that it tries a TPU only where something says one should be here.
    """
    return _started(host, tpu=tpu.read(host).expected)


def once_more(host: Host, only: tuple[str, ...], cross_device: str | None = None) -> Child:
    """A child of TensorFlow's that trains a few runs alone.

    Args:
        host: the machine.
        only: their stages in the plan; none of them is a TPU's.
        cross_device: how a mirrored strategy shall exchange gradients (see ``gpucheck/strategies/mirrored.py``).
    """
    return _started(host, False, only, cross_device)


def _started(host: Host, tpu: bool, only: tuple[str, ...] = (), cross_device: str | None = None) -> Child:
    request = host.request
    settings = {
        "smoke": request.smoke,
        "level": int(request.level),
        "strategies": list(request.strategies),
        "tpu": tpu,
        "logical_devices": request.logical_devices,
        "log_device_placement": request.log_device_placement,
        "only": list(only),
        "cross_device": cross_device,
    }
    return host.child("framework", json.dumps(settings, sort_keys=True), limit=host.request.timeout_seconds)


def trained(host: Host) -> list[tuple[str, Child]]:
    """The children in which TensorFlow trained, each after its name: that of a worker, empty where it trained alone."""
    alone = [("", child) for _, child in host.children("framework")]
    return [*alone, *((json.loads(args[0])["name"], child) for args, child in host.children("worker"))]


def oom_killed(host: Host, how: str | None, before: int | None) -> int | None:
    """Processes that the kernel has killed for want of memory since ``before``; None unless the child ended by SIGKILL."""
    after = limits.oom_kills(host) if how == "killed by SIGKILL" and before is not None else None
    return None if after is None or before is None else after - before
