"""What a run waits for, for the progress line, and how long that typically takes.

The seconds are those of recorded runs. On an H200 node of 16 cores: TensorFlow 2.21's import 3.8 to 5 s, its list of devices 0.3,
nvmlInit 0.01 and all of NVML 0.13, a first step 4.3 to 15 s (without and with XLA). On a laptop and a machine of two cores,
both without a GPU: the import 2.4 to 4.0 s, and 5.1 and 7.0 s from a cold disk; a first step 0.6 to 1.2 s.
"""

from typing import NamedTuple

from gpucheck.core.model import Level, Request
from gpucheck.core.model.naming import devices
from gpucheck.core.model.progress import Activity


class Wait(NamedTuple):
    """Something a run waits for, and its typical time."""

    phase: str
    words: str
    typical: tuple[float, float] | None = None  # seconds, minimum and maximum


LOOK, IMPORT, TRAIN, EXPERIMENT, MEASURE, JUDGE = "look", "import", "train", "experiment", "measure", "judge"
JUDGING = Wait(JUDGE, "Evaluating the results")
SUMMING_UP = Wait(MEASURE, "Summarizing the measurements")
_DRIVER = Wait(LOOK, "Waiting for the NVIDIA driver", (0, 1))
_CHILDREN = {
    "nvml": _DRIVER,
    "sampler": Wait(TRAIN, "Waiting for the NVIDIA driver while training", (0, 1)),
    "cuda": Wait(LOOK, "Waiting for CUDA", (0, 3)),
    "libraries": Wait(LOOK, "Opening the libraries that TensorFlow opens", (0, 3)),
    "device_nodes": Wait(LOOK, "Opening device files", (0, 1)),
    "interpreter": Wait(LOOK, "Querying the examined Python", (0, 3)),
    "kubernetes": Wait(LOOK, "Querying the Kubernetes API server"),
    "worker": Wait(TRAIN, "Training with several workers"),
    "exhaustion": Wait(EXPERIMENT, "Running out of memory on purpose"),
}
_STAGES = {
    "import": Wait(IMPORT, "Importing TensorFlow", (2, 7)),
    "devices": Wait(IMPORT, "Waiting for TensorFlow to list devices", (0, 3)),
    "keras": Wait(IMPORT, "Importing Keras", (0, 7)),
    "tpu": Wait(IMPORT, "Connecting to the TPU"),
    "plan": Wait(TRAIN, "Preparing to train"),
    "train": Wait(TRAIN, "Training"),
    "xla": Wait(TRAIN, "Compiling a small step with XLA"),
    "experiment": Wait(EXPERIMENT, "Trying"),
    "checksums": Wait(TRAIN, ""),
    "measure": Wait(MEASURE, "Measuring"),
    "data": Wait(MEASURE, "Loading the data"),
}
_FIRST_STEP = (1.0, 16.0)
# What has passed of a --full run, as a share of its time, when a child or a stage begins and ends: on two cores without a GPU.
_SHARES = {
    "train": (0.05, 0.25),
    "experiment": (0.25, 0.8),
    "checksums": (0.8, 0.82),
    "worker": (0.82, 0.93),
    "exhaustion": (0.93, 1.0),
}
SOAKED = 0.82  # from here on a soak is over


def phases(request: Request) -> tuple[str, ...]:
    """The phases of a run of that level, in order."""
    deep, trains = request.level >= Level.DEFAULT, request.smoke and request.level >= Level.DEFAULT
    full = trains and request.level >= Level.FULL
    return (LOOK, *[IMPORT] * deep, *[TRAIN] * trains, *[EXPERIMENT] * full, JUDGE)


def wait(doing: Activity) -> Wait:
    """What a child waits for, with the job that is trained or measured."""
    kind = _CHILDREN.get(doing.child) or _STAGES.get(doing.stage, Wait(IMPORT, "Waiting for TensorFlow"))
    words, typical = kind.words, kind.typical
    if doing.planned:
        words += f" {min(doing.ended + 1, doing.planned)} of {doing.planned}"
    if doing.stage == "train" and doing.job:
        words += f": {_job(doing.job)}"
        typical = _FIRST_STEP if doing.step == "first step" else None
    elif doing.stage in ("measure", "experiment"):
        words += f" {doing.job.replace('_', ' ')}"
    elif doing.stage == "checksums":
        words = doing.step.capitalize()
    if doing.job and doing.step:
        words += f", {doing.step}"
    if doing.child == "backend":
        words = words.replace("TensorFlow", "JAX or PyTorch")
    return Wait(MEASURE if doing.child == "bench" else kind.phase, words, typical)


def share(doing: Activity) -> float:
    """Return how much of a --full run has passed, from 0 to 1; 0 where that is unknown."""
    begin, end = _SHARES.get(doing.child) or _SHARES.get(doing.stage, (0.0, 0.0))
    return begin + (end - begin) * (doing.ended / doing.planned if doing.planned else 0)


def _job(job: str) -> str:
    """A job's name with shortened devices, and the precision unless it is float32: "mirrored CPU:0-7"."""
    strategy, _, rest = job.partition(" ")
    names, _, precision = rest.partition(" ")
    return f"{strategy} {devices(names.split(','))} {precision.removeprefix('float32').strip()}".rstrip()
