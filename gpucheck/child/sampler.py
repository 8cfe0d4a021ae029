"""The child that samples NVML while another one measures: what each GPU does, a few times a second.

Stages: "start" (its problem, or None), then "sample <number>" without end: the monotonic time and, by NVML index, the
utilisation, power, clock and clock event reasons of each GPU. What a GPU does not answer is null.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from gpucheck.child.loader import load
from gpucheck.child.nvml import LIBRARIES, Gone, Queries, activity, failure
from gpucheck.child.runtime import Stages

INTERVAL_SECONDS = 0.2


def run(stages: Stages, args: list[str]) -> None:
    """Sample until the parent says anything, or ends. ``args[0]``: the folder that holds pynvml."""
    stages.begin("start")
    library, account = load(LIBRARIES, "nvmlInit_v2")
    if library is None:
        stages.end("start", {"problem": account["problem"]})
        return
    sys.path.extend(args[:1])
    import pynvml

    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError as error:
        stages.end("start", {"problem": failure(pynvml, error)["problem"]})
        return
    stages.end("start", {"problem": None})
    gpus = [Queries(pynvml, handle) for handle in handles]
    number = 0
    while stages.hear(INTERVAL_SECONDS) is None:
        stages.end(f"sample {number}", {"at": time.monotonic(), "gpus": [_sample(gpu) for gpu in gpus]})
        number += 1


def _sample(gpu: Queries) -> dict[str, Any]:
    try:
        return activity(gpu)
    except Gone:  # the GPU is lost: the measurement will tell
        return {}
