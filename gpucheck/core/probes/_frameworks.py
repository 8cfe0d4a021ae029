"""The children that import a framework, one for TensorFlow and one for Keras on JAX or PyTorch, and the one that trains.

If connecting to a TPU fails, a second TensorFlow child trains on the other devices: the first one may hang, crash, or reject
the configuration of devices.
"""

from typing import Any

from gpucheck.core.child.messages import Shadowed
from gpucheck.core.child.messages.frameworks import (
    BackendChosen,
    BackendTask,
    DevicesListed,
    FrameworkTask,
    KerasImported,
    TpuConnected,
)
from gpucheck.core.compat import keras
from gpucheck.core.compat.tpu import CONNECT_SECONDS
from gpucheck.core.host import Child, Host
from gpucheck.core.model import Request
from gpucheck.core.probes import cuda, driver, limits, tpu

HUNG_SECONDS = 1.0  # to list devices after cuInit or nvmlInit has hung in its own process: a framework calls both


def backend(host: Host) -> BackendChosen:
    """Return the backend to test: the requested one, else the one that the environment configures for Keras."""
    if host.request.backend is not None:
        return BackendChosen(host.request.backend, "--backend")
    return tensorflow_child(host).wait_for(BackendChosen) or BackendChosen(keras.BACKENDS[0], "default")


def other_backend(host: Host) -> str | None:
    """Return the backend that Keras trains on if it is a supported one other than TensorFlow; else None."""
    name = backend(host).name
    return name if name in keras.OTHERS else None


def training_child(host: Host) -> Child:
    """Return the child that trains: TensorFlow's first or second one, or that of the other backend."""
    if other_backend(host):
        return backend_child(host)
    answer = tpu_connection(host) if host.request.smoke else None
    return tensorflow_child(host) if answer is None or answer.connected else _start(host, tpu=False)


def tpu_connection(host: Host) -> TpuConnected | None:
    """Return the result of connecting to the TPU; None: not tried, or not reached."""
    framework = tensorflow_child(host)
    if not tpu.read(host).expected or framework.wait_for(KerasImported) is None:
        return None
    seconds = min(CONNECT_SECONDS, host.remaining() / 2)
    answer = framework.wait_for(TpuConnected, within=seconds)
    if answer is not None:
        return answer
    ending = framework.end()
    if ending.stage is None or ending.stage.name != TpuConnected.stage:
        return None
    late = ending.how == "timed out"
    return TpuConnected(False, error=f"no response within {seconds:.0f} s" if late else f"TensorFlow's process was {ending.how}")


def backend_child(host: Host) -> Child:
    """Return the child that imports JAX or PyTorch, started by the first probe that needs it. Its time limit is the run's."""
    request = host.request
    _oom_kills_before(host)
    chosen = backend(host)
    task = BackendTask(
        backend=chosen.name,
        source=chosen.source,
        smoke=request.smoke,
        level=int(request.level),
        strategies=tuple(request.strategies),
        logical_devices=request.logical_devices,
    )
    return host.child(task, limit=request.timeout_seconds)


def devices_listed(host: Host, child: Child) -> DevicesListed | None:
    """Wait for the devices that a framework lists, but not until the end of the run if the driver hangs."""
    return child.wait_for(DevicesListed, within=HUNG_SECONDS if driver_hangs(host) else None)


def not_imported(child: Child) -> dict[str, Any]:
    """Return the fields of an import that a child did not report because it ended too early."""
    how = child.end().how
    hidden = child.message(Shadowed)  # such files break the child like any program
    return {"imported": None if how == "timed out" else False, "error": how, "shadows": hidden.files if hidden else {}}


def driver_hangs(host: Host) -> bool:
    """Whether NVML or CUDA hung in its own process; wait until both have responded or timed out."""
    try:
        return "hung" in (cuda.read(host).status, driver.query_nvml(host).answer.status)
    except RuntimeError:  # the probes of the driver report it
        return False


def tensorflow_child(host: Host) -> Child:
    """Return the child that imports TensorFlow, started by the first probe that needs it. Its time limit is the run's.

    Only the request decides what it does, except that it tries a TPU only if this machine has signs of one.
    """
    return _start(host, tpu=tpu.read(host).expected)


def train_again(host: Host, only: tuple[str, ...], cross_device: str | None = None) -> Child:
    """Start a TensorFlow child that trains only some jobs.

    Args:
        host: the machine.
        only: their ids, without a TPU's.
        cross_device: how a mirrored strategy exchanges gradients (see ``gpucheck/core/training/strategies/mirrored.py``).
    """
    return _start(host, False, only, cross_device)


def _start(host: Host, tpu: bool, only: tuple[str, ...] = (), cross_device: str | None = None) -> Child:
    _oom_kills_before(host)
    request = host.request
    task = FrameworkTask(
        smoke=request.smoke,
        level=int(request.level),
        strategies=tuple(request.strategies),
        tpu=tpu,
        logical_devices=request.logical_devices,
        log_device_placement=request.log_device_placement,
        allow_cpu=_asks_for_cpu(request),
        only=only,
        cross_device=cross_device,
        soak_seconds=60 * request.soak_minutes or None,
    )
    return host.child(task, limit=request.timeout_seconds)


def _asks_for_cpu(request: Request) -> bool:
    """Whether to train on the CPU although CUDA has a GPU: on request, or to test the rest if the missing GPU may be muted."""
    muted = request.expectations is not None and bool(request.expectations.mute)
    return not request.needs_gpu or muted or bool(request.strategies or request.logical_devices or request.log_device_placement)


def oom_killed(host: Host, how: str | None) -> int | None:
    """Return how many processes the OOM killer ended since the first child started; None unless SIGKILL ended this one."""
    before = _oom_kills_before(host)
    after = limits.oom_kills(host) if how == "killed by SIGKILL" and before is not None else None
    return None if after is None or before is None else after - before


def _oom_kills_before(host: Host) -> int | None:
    """Return the kernel's count before any child started: a shared child may die before the second probe reads the count."""
    return host.once("oom_kills", lambda: limits.oom_kills(host))
