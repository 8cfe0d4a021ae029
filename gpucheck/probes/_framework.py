"""The one child that imports TensorFlow: inspection and single-process training share it."""

import json

from gpucheck.host import Child, Host
from gpucheck.probes import tpu


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
