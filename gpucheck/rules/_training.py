"""What at least three rules ask of training runs, log lines and GPUs in use."""

import re
from collections.abc import Callable
from typing import NamedTuple

from gpucheck.compat.keras import TITLES
from gpucheck.model import Evidence, Skip, TrainingRun, saw
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.gpus import Gpu, Gpus
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.log import Event, Log
from gpucheck.probes.training import Training
from gpucheck.rules._common import pip, word

CUDA_ERROR_NO_DEVICE = 100
NOT_WATCHED = Skip("no training job and no log to see it in")


class Failure(NamedTuple):
    """Where a failure of a known kind was seen first."""

    text: str  # the reason or the log line, shortened
    evidence: tuple[Evidence, ...]
    affects: tuple[str, ...]
    run: TrainingRun | None = None  # None: seen in the log only
    event: Event | None = None


def failure(
    training: Training | None,
    log: Log | None,
    pattern: str,
    *kinds: str,
    on: Callable[[TrainingRun], bool] = lambda run: True,
    where: Callable[[Event], bool] = lambda event: True,
) -> Failure | Skip | None:
    """A failed run whose reason matches, else a log event of these kinds that nothing later took back.

    Where the jobs passed, an alarming line is no failure: None.
    """
    if training is not None:
        for index, run in enumerate(training.runs):
            if run.status == "failed" and on(run) and re.search(pattern, run.reason or ""):
                evidence = saw(training, f"runs[{index}].devices", f"runs[{index}].reason")
                return Failure(short(run.reason or ""), evidence, run.devices, run)
    lines = [(index, event) for index, event in alarms(training, log, *kinds) if where(event)]
    if log is not None and lines:
        index, event = lines[0]
        return Failure(short(event.text), saw(log, f"events[{index}].text"), (), None, event)
    return NOT_WATCHED if training is None and log is None else None


def standing(log: Log | None, *kinds: str) -> list[tuple[int, Event]]:
    """The events of these kinds after which training did not go on, with their places in ``Log.events``."""
    events = log.events if log is not None else ()
    last = max((index for index, event in enumerate(events) if event.kind == "training-progress"), default=-1)
    later = [(index, event) for index, event in enumerate(events) if event.kind in ("nccl-ready", "session-started")]
    return [
        (index, event)
        for index, event in enumerate(events)
        if event.kind in kinds and index > last and not any(index < place and _mends(mending, event) for place, mending in later)
    ]


def _mends(later: Event, event: Event) -> bool:
    """Whether a line shows that what an earlier one told of is over: the workers came, or NCCL did without."""
    if later.kind == "session-started":
        return event.kind == "worker-unreachable"
    return "NCCL WARN" in event.text and _speaker(later) == _speaker(event)


def _speaker(event: Event) -> str:
    """The process that NCCL speaks for: "host:pid" before the thread's number."""
    spoken = re.search(r"(\S+:\d+):\d+ \[\d+\]", event.text)
    return spoken[1] if spoken else ""


def alarms(training: Training | None, log: Log | None, *kinds: str) -> list[tuple[int, Event]]:
    """The standing events of these kinds; none where training, tried here, went well all the same."""
    if training is not None and training.ending is None and passed(training) and not failed(training):
        return []
    return standing(log, *kinds)


def passed(training: Training | None) -> list[TrainingRun]:
    """The runs that passed."""
    return [run for run in training.runs if run.status == "passed"] if training is not None else []


def failed(training: Training | None) -> list[TrainingRun]:
    """The runs that failed."""
    return [run for run in training.runs if run.status == "failed"] if training is not None else []


def on_gpu(run: TrainingRun) -> bool:
    """Whether the run was meant for GPUs."""
    return any("GPU" in device for device in run.devices)


def label(run: TrainingRun) -> str:
    """'mirrored on GPU:0 to GPU:7 in mixed_float16', 'one_device on GPU:0 with JAX'."""
    names = tuple(dict.fromkeys(run.devices))  # the workers of one job may each have a GPU:0
    devices = f"{names[0]} to {names[-1]}" if len(names) > 2 else " and ".join(names)
    precision = "" if run.precision == "float32" else f" in {run.precision}"
    framework = "" if run.backend == "tensorflow" else f" with {TITLES[run.backend]}"
    return f"{run.strategy}{' on ' + devices if devices else ''}{precision}{framework}"


def short(text: str, limit: int = 140) -> str:
    """One line without its closing full stop, cut at a word where it is long."""
    line = " ".join(text.split())
    if len(line) > limit:
        line = line[:limit].rpartition(" ")[0] + " ..."
    return line if line.endswith("...") else line.rstrip(".:")


def gib(size_bytes: float) -> str:
    """'1.5 GiB'; below one GiB '64 MiB'."""
    if size_bytes < 1 << 30:
        return f"{size_bytes / (1 << 20):.0f} MiB"
    return f"{size_bytes / (1 << 30):.1f} GiB"


def gpus_in_use(gpus: Gpus, cuda: Cuda | None) -> list[tuple[int, Gpu]]:
    """The GPUs that CUDA offers this process (all, if CUDA could not say), with their places in ``Gpus.gpus``."""
    if cuda is not None and cuda.result == CUDA_ERROR_NO_DEVICE:
        return []
    visible = {device.pci_address for device in cuda.devices if device.pci_address} if cuda is not None else set()
    known = [(index, gpu) for index, gpu in enumerate(gpus.gpus)]
    return [(index, gpu) for index, gpu in known if gpu.pci_address in visible] or known


def title(gpu: Gpu) -> str:
    """'GPU 3 (NVIDIA H200)'."""
    return f"GPU {gpu.index} ({gpu.name})" if gpu.name else f"GPU {gpu.index}"


def device_name(gpu: Gpu, cuda: Cuda | None) -> str:
    """TensorFlow's name of that GPU: it counts in CUDA's order."""
    for device in cuda.devices if cuda is not None else ():
        if device.pci_address is not None and device.pci_address == gpu.pci_address:
            return f"GPU:{device.ordinal}"
    return f"GPU:{gpu.index}"


def install(interpreter: Interpreter | None, *what: str) -> str:
    """pip's command line, also where only a log is known."""
    return pip(interpreter, *what) if interpreter is not None else f"python -m pip install {' '.join(map(word, what))}"
