"""The first training step waits while the driver compiles TensorFlow's kernels for this GPU.

Symptom:
    TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be
      jit-compiled from PTX, which could take 30 minutes or longer.
Cause:
    This TensorFlow has no native code for the GPU's compute capability. The driver compiles it from PTX at the first use and
    keeps it in a cache, so later starts are fast until TensorFlow or the driver changes. TensorFlow 2.17 to 2.21 have native code
    for compute capability 6.0 to 8.9.
Verify:
    A second run of gpucheck shows a first step of a few seconds.
Unless:
    It happened once. On compute capability 9.0 (Hopper), every TensorFlow up to 2.21 starts like this.
Example:
    training.runs[0].first_step_seconds = 312.0
    log.events = [{"kind": "kernels-jit-compiled", "line": 12, "text": "TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.", "fields": {"capability": "9.0"}}]
    -> The first training step took 312 s (1.1 s in other jobs), because TensorFlow 2.21.0 has no native kernels for GPU 0 (NVIDIA H200), compute capability 9.0, and the driver compiled them.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/#just-in-time-compilation
    https://www.tensorflow.org/install/source#gpu
"""

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.tensorflow_build import Kernels, TensorFlowBuild
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, on_gpu
from gpucheck.core.compat import images, versions
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, TrainingRun, rule
from gpucheck.core.model.wording import version_text
from gpucheck.core.probes.gpus import Gpu
from gpucheck.core.repairs.context import Context

SLOW_SECONDS = 30.0  # a first step with everything cached takes about 5 s, autotuning included
NOTICED_SECONDS = 10.0
# Ratio to other jobs: the first job of a process also loads libraries, which takes up to four times as long.
SLOWER_THAN_OTHERS = 5.0


@rule(severity=Severity.WARNING, scope=Scope.ENVIRONMENT, tensorflow=True, first_check="the GPU's compute capability")
def check(
    used: GpusInUse | None, build: TensorFlowBuild | None, log_causes: LogCauses, context: Context
) -> Finding | Skip | None:
    """Report kernels that the driver compiled, if the first step was slow; cached kernels cost nothing."""
    cause, outcomes = log_causes.causes.get("kernels-jit-compiled"), log_causes.outcomes
    kernels = build.kernels if build is not None else None
    without_native_kernels = _without_native_kernels(used, kernels)
    if cause is None and not (kernels and without_native_kernels):
        return outcomes.skip if kernels is None else None
    seconds: float | None = None
    others = None
    evidence = log_causes.evidence(cause) if cause is not None or kernels is None else kernels.evidence
    if any(_was_measured(run) for run in outcomes.runs):
        slow = [(run.first_step_seconds or 0.0, place) for place, run in enumerate(outcomes.runs) if _slow(outcomes, run)]
        if not slow:
            return None
        seconds, place = max(slow)
        others = _other_jobs(outcomes, outcomes.runs[place])
        evidence = (*evidence, *outcomes.saw_run(place, "first_step_seconds", "status"))
    elif cause is None:
        return Skip("how long the first training step takes was not measured") if outcomes.training is None else None
    capability = cause.events[0].fields.get("capability", "") if cause is not None else ""
    return Finding(
        summary=f"{_start(seconds, others)}, because {f'TensorFlow {kernels.version if kernels else str()}'.strip()} has no native"
        f" kernels for {_gpu(without_native_kernels, capability)} and the driver {'compiles' if seconds is None else 'compiled'} them.",
        evidence=evidence,
        fix=repairs(context, capability=capability or _capability(without_native_kernels)),
        affects=tuple(gpu.label for gpu in without_native_kernels),
    )


def _without_native_kernels(used: GpusInUse | None, kernels: Kernels | None) -> list[Gpu]:
    """Return the GPUs that the build has no native code for."""
    gpus = [gpu for _, gpu in used.used] if used is not None and kernels is not None else []
    return [gpu for gpu in gpus if kernels and gpu.compute_capability and not kernels.runs_natively(gpu.compute_capability)]


def _was_measured(run: TrainingRun) -> bool:
    """Whether the run's first step on a GPU completed or timed out."""
    return on_gpu(run) and (run.first_step_seconds is not None or (run.status == "timed_out" and run.stage == "first step"))


def _slow(outcomes: TrainingOutcomes, run: TrainingRun) -> bool:
    """Whether the first step was slow, in absolute terms or relative to other jobs, excluding XLA's own compilation."""
    if not on_gpu(run) or run.compiled:
        return False
    seconds, others = run.first_step_seconds or 0.0, _other_jobs(outcomes, run)
    unlike = others is not None and seconds >= max(NOTICED_SECONDS, SLOWER_THAN_OTHERS * others)
    return seconds >= SLOW_SECONDS or unlike or (run.status == "timed_out" and run.stage == "first step")


def _other_jobs(outcomes: TrainingOutcomes, run: TrainingRun) -> float | None:
    """Return the median first step, in seconds, of other jobs on the same number of GPUs, which used the cached kernels."""
    others = [
        other.first_step_seconds
        for other in outcomes.runs
        if other is not run and on_gpu(other) and not other.compiled and len(other.devices) == len(run.devices)
        if other.first_step_seconds is not None
    ]
    if not others:
        return None
    from statistics import median  # --quick does not need it

    return median(others)


def _start(seconds: float | None, others: float | None) -> str:
    if seconds is None:
        return "The first training step will be slow"
    if seconds == 0.0:
        return "The first training step timed out"
    unlike = others is not None and seconds >= SLOWER_THAN_OTHERS * others
    return f"The first training step took {seconds:.0f} s" + (f" ({others:.1f} s in other jobs)" if unlike else "")


def _gpu(without_native_kernels: list[Gpu], capability: str) -> str:
    if without_native_kernels:
        return f"{without_native_kernels[0].title}, compute capability {version_text(without_native_kernels[0].compute_capability or (0, 0))},"
    return f"a GPU of compute capability {capability}" if capability else "this GPU"


def _capability(without_native_kernels: list[Gpu]) -> str:
    return version_text(without_native_kernels[0].compute_capability or ()) if without_native_kernels else ""


def repairs(context: Context, *, capability: str = "") -> Fixes:
    """Keep the compiled kernels, or install a TensorFlow with native ones.

    Args:
        context: what is known about the machine.
        capability: the GPU's compute capability: "9.0"; empty: unknown.
    """
    yield Fix(
        text="Wait for the compilation once, and keep the compiled kernels (this command only makes the cache large enough)",
        command="export CUDA_CACHE_MAXSIZE=4294967296",
    )
    if context.in_container:
        yield Fix(text="Mount a volume at ~/.nv/ComputeCache: a new container starts with an empty cache")
    numbers = versions.parse(capability)
    native = [release for release in releases.RELEASES.values() if _has_code(release, numbers)]
    if native:
        text = f"Or install TensorFlow {native[-1].minor}, which has native code for this GPU"
        yield Fix(text=text, command=context.pip(f"tensorflow[and-cuda]=={native[-1].minor}.*"))
    elif images.LOWEST <= numbers <= images.HIGHEST:
        yield Fix(
            text=f"Or start from NVIDIA's own build, which has native code for this GPU: {images.NAME}"
            f" (driver {images.LOWEST_DRIVER[0]} or newer)"
        )


def _has_code(release: releases.Release, capability: tuple[int, ...]) -> bool:
    """Whether a release has native code for a GPU, and is for CUDA 12; older ones have no extra that installs the libraries."""
    own = (divmod(cubin, 10) for cubin in release.cubins)
    return bool(release.and_cuda) and any((major,) == capability[:1] and (minor,) <= capability[1:2] for major, minor in own)
