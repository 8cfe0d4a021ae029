"""The first training step waits while the driver compiles TensorFlow's kernels for this GPU.

Symptom:
    TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be
    jit-compiled from PTX, which could take 30 minutes or longer.
Cause:
    This TensorFlow has no native code for the GPU's compute capability. The driver compiles it from PTX at the first use and
    keeps it in a cache, so later starts are fast until TensorFlow or the driver changes.
Fix:
    1. Let it finish once, and keep what it compiled
       $ export CUDA_CACHE_PATH=/path/to/cache CUDA_CACHE_MAXSIZE=4294967296
    2. Or install a TensorFlow with native code for this GPU
       $ python -m pip install --upgrade "tensorflow[and-cuda]"
Verify:
    A second gpucheck shows a first step of a few seconds.
Unless:
    It happened once. On compute capability 9.0 (Hopper) this is how every TensorFlow up to 2.21 starts.
Example:
    training.runs[0].first_step_seconds = 312.0
    log.events = [{"kind": "kernels-jit-compiled", "line": 12, "text": "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.", "fields": {"capability": "9.0"}}]
    -> The first training step took 312 s, where it takes 1.1 s in other jobs, because TensorFlow 2.21.0 has no native kernels for GPU 0 (NVIDIA H200), compute capability 9.0, and the driver compiled them.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/#just-in-time-compilation
    https://www.tensorflow.org/install/source#gpu
"""

import statistics

from gpucheck.combiners.log_causes import LogCauses
from gpucheck.combiners.training_outcomes import TrainingOutcomes, on_gpu
from gpucheck.engine.plugin import rule
from gpucheck.model import Evidence, Finding, Fix, Scope, Severity, Skip, TrainingRun, saw
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.gpus import Gpu, Gpus
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.packages import Packages
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.probes.training import Training
from gpucheck.rules._commands import install
from gpucheck.rules._gpus import gpus_in_use, title
from gpucheck.rules._tensorflow import kernels

SLOW_SECONDS = 30.0  # a first step with everything cached takes about 5 s, autotuning included
NOTICED_SECONDS = 10.0
UNLIKE = 5.0  # times: the first job of a process also loads libraries, which makes it up to four times as slow to start


@rule(severity=Severity.WARNING, scope=Scope.ENVIRONMENT, tensorflow=True)
def check(
    gpus: Gpus | None,
    cuda: Cuda | None,
    packages: Packages | None,
    interpreter: Interpreter | None,
    tensorflow: TensorFlow | None,
    outcomes: TrainingOutcomes,
    log_causes: LogCauses,
) -> Finding | Skip | None:
    """The driver had to compile, and the first step shows it. What came from the cache costs nothing and is no finding."""
    cause, training = log_causes.named.get("kernels-jit-compiled"), outcomes.training
    carried = kernels(packages, tensorflow) if packages is not None else None
    foreign = [
        gpu
        for _, gpu in (gpus_in_use(gpus, cuda) if gpus is not None else [])
        if carried is not None and gpu.compute_capability and not carried.runs_natively(gpu.compute_capability)
    ]
    evidence: tuple[Evidence, ...] = ()
    if cause is not None:
        evidence = log_causes.evidence(cause)
    elif carried is not None:
        if not foreign:
            return None
        evidence = carried.evidence
    else:
        return outcomes.skip
    seconds: float | None = None
    others = None
    if training is not None:
        slow = [(run.first_step_seconds or 0.0, place) for place, run in enumerate(training.runs) if _slow(training, run)]
        if not slow:
            return None
        seconds, place = max(slow)
        others = _elsewhere(training, training.runs[place])
        evidence = (*evidence, *saw(training, f"runs[{place}].first_step_seconds", f"runs[{place}].status"))
    elif cause is None:
        return Skip("how long the first training step takes was not measured")
    capability = cause.events[0].fields.get("capability", "") if cause is not None else ""
    return Finding(
        summary=_summary(seconds, others, carried.version if carried else "", foreign, capability),
        evidence=evidence,
        fix=(
            Fix(
                text="Let it finish once and keep what it compiled (this only makes the cache large enough)",
                command="export CUDA_CACHE_MAXSIZE=4294967296",
            ),
            Fix(
                text="Or look for a newer TensorFlow with native code for this GPU",
                command=install(interpreter, "--upgrade", "tensorflow[and-cuda]"),
            ),
        ),
        affects=tuple(f"GPU {gpu.index}" for gpu in foreign),
    )


def _slow(training: Training, run: TrainingRun) -> bool:
    """By itself, or measured by other jobs. What XLA compiles for a job is not the driver's doing, and takes as long each time."""
    if not on_gpu(run) or run.compiled:
        return False
    seconds, others = run.first_step_seconds or 0.0, _elsewhere(training, run)
    unlike = others is not None and seconds >= max(NOTICED_SECONDS, UNLIKE * others)
    return seconds >= SLOW_SECONDS or unlike or (run.status == "timed_out" and run.stage == "first step")


def _elsewhere(training: Training, run: TrainingRun) -> float | None:
    """The median first step, in seconds, of other jobs on as many GPUs: they found compiled what this one had to wait for."""
    others = [
        other.first_step_seconds
        for other in training.runs
        if other is not run and on_gpu(other) and not other.compiled and len(other.devices) == len(run.devices)
        if other.first_step_seconds is not None
    ]
    return statistics.median(others) if others else None


def _summary(seconds: float | None, others: float | None, version: str, foreign: list[Gpu], capability: str) -> str:
    if seconds is None:
        start = "The first training step will be slow"
    elif seconds == 0.0:
        start = "The first training step did not end in time"
    else:
        start = f"The first training step took {seconds:.0f} s"
        if others is not None and seconds >= UNLIKE * others:
            start += f", where it takes {others:.1f} s in other jobs"
    name = f"TensorFlow {version}".strip()
    if foreign:
        major, minor = foreign[0].compute_capability or (0, 0)
        gpu = f"{title(foreign[0])}, compute capability {major}.{minor},"
    else:
        gpu = f"a GPU of compute capability {capability}" if capability else "this GPU"
    verb = "compiles" if seconds is None else "compiled"
    return f"{start}, because {name} has no native kernels for {gpu} and the driver {verb} them."
