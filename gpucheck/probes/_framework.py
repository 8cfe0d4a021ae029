"""The one child that imports TensorFlow: inspection and single-process training share it."""

import json

from gpucheck.host import Child, Host
from gpucheck.probes import tpu


def child(host: Host) -> Child:
    """The framework child, started by whichever probe asks first. Its limit is the run's own.

    What it does is decided by the request alone, except that it tries a TPU only where something says one should be here.
    """
    request = host.request
    settings = {
        "smoke": request.smoke,
        "level": int(request.level),
        "strategies": list(request.strategies),
        "tpu": tpu.read(host).expected,
    }
    return host.child("framework", json.dumps(settings, sort_keys=True), limit=host.request.timeout_seconds)
