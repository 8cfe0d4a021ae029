"""Training in the requested precision does not work on this GPU, or is slower than in float32.

Symptom:
    Your GPU may run slowly with dtype policy mixed_float16 because it does not have compute capability of at least 7.0
    - No algorithm worked! / UnimplementedError, only under mixed_bfloat16
    - gpucheck --full: mixed_float16 trains fewer samples per second than float32.
Cause:
    float16 is only worthwhile with the Tensor Cores of compute capability 7.0 (Volta), bfloat16 with those of 8.0 (Ampere). On
    older GPUs, some kernels don't exist, and the others are slower than float32.
Verify:
    gpucheck --full: the run in that precision passed.
Unless:
    You use it to save memory, not time, and training works.
Example:
    gpus.gpus[0].name = "Tesla T4"
    gpus.gpus[0].compute_capability = [7, 5]
    cuda.devices[0].name = "Tesla T4"
    cuda.devices[0].compute_capability = [7, 5]
    tensorflow.devices[1].description = "Tesla T4"
    tensorflow.devices[1].compute_capability = [7, 5]
    request.level = 2
    training.runs[1].strategy = "one_device"
    training.runs[1].precision = "mixed_bfloat16"
    training.runs[1].status = "failed"
    training.runs[1].stage = "first step"
    training.runs[1].reason = "UnimplementedError: the DNN library has no convolution for bfloat16"
    -> Training in mixed_bfloat16 fails on GPU 0 (Tesla T4), whose compute capability 7.5 has no bfloat16 Tensor Cores, but works in float32.
References:
    https://keras.io/api/mixed_precision/
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities
"""

import re
from typing import Literal

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, on_gpu
from gpucheck.core.compat import gpus as gpu_tables
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, TrainingRun, rule
from gpucheck.core.model.naming import devices
from gpucheck.core.model.wording import version_text
from gpucheck.core.probes.gpus import Gpu
from gpucheck.core.repairs.context import Context

# Failures that depend on the type. Memory and crashes have other rules.
OF_THE_TYPE = r"Unimplemented|UNIMPLEMENTED|[Nn]ot (implemented|supported)|[Uu]nsupported|No algorithm worked|no convolution|No OpKernel|b?float16|DT_B?HALF|DT_BFLOAT16"
_TYPES: dict[str, Literal["float16", "bfloat16"]] = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}
SLOWER = 1.5  # ratio of samples per second; smaller differences mean nothing for the smoke job's small steps


@rule(scope=Scope.CODE, explains=("training-failed",))
def check(used: GpusInUse | None, outcomes: TrainingOutcomes, context: Context) -> Finding | Skip | None:
    """Report a mixed-precision run that failed because of its type (float32 passed), or was much slower on a GPU without it."""
    return _failed(used, outcomes, context) or _slow(used, outcomes, context) or outcomes.skip


def _failed(used: GpusInUse | None, outcomes: TrainingOutcomes, context: Context) -> Finding | None:
    works = {run.devices for run in outcomes.passed if run.precision == "float32"}
    for place, run in enumerate(outcomes.runs):
        if run.precision == "float32" or run.status != "failed" or run.devices not in works:
            continue
        gpu = _weak(run, used)
        if gpu is None and not re.search(OF_THE_TYPE, run.reason or ""):
            continue
        where, better = f"on {devices(run.devices)}", "float32"
        if gpu is not None:
            kind, capability = _TYPES[run.precision], gpu.compute_capability or (0, 0)
            where = f"on {gpu.title}, whose compute capability {version_text(capability)} has no {kind} Tensor Cores,"
            if kind == "bfloat16" and gpu_tables.supports(capability, "float16"):
                better = "mixed_float16"
        return Finding(
            summary=f"Training in {run.precision} fails {where} but works in float32.",
            evidence=outcomes.saw_run(place, "precision", "reason"),
            fix=repairs(context, better=better),
            affects=run.devices,
        )
    return None


def _slow(used: GpusInUse | None, outcomes: TrainingOutcomes, context: Context) -> Finding | None:
    """Report a passed mixed-precision run that was much slower than in float32, on a GPU without Tensor Cores for its type."""
    plain = {
        _job(run): place
        for place, run in enumerate(outcomes.runs)
        if run.precision == "float32" and run.status == "passed" and run.cross_device is None
    }
    for place, run in enumerate(outcomes.runs):
        reference = plain.get(_job(run))
        if reference is None or run.status != "passed" or (gpu := _weak(run, used)) is None:
            continue
        rate, baseline = run.samples_per_second, outcomes.runs[reference].samples_per_second
        if rate is None or baseline is None or rate * SLOWER > baseline:
            continue
        return Finding(
            summary=f"Training in {run.precision} is slower than in float32 on {gpu.title}: {rate:.0f} instead of {baseline:.0f} samples"
            f" per second; its compute capability {version_text(gpu.compute_capability or (0, 0))} has no {_TYPES[run.precision]}"
            " Tensor Cores.",
            evidence=(*outcomes.saw_run(place, "samples_per_second"), *outcomes.saw_run(reference, "samples_per_second")),
            fix=repairs(context, better="float32"),
            affects=run.devices,
            severity=Severity.WARNING,
        )
    return None


def _job(run: TrainingRun) -> tuple[str, tuple[str, ...], bool]:
    """Return what identifies the run's job, without its precision."""
    return run.strategy, run.devices, run.compiled


def _weak(run: TrainingRun, used: GpusInUse | None) -> Gpu | None:
    """Return the run's GPU if it has no Tensor Cores for the type."""
    kind = _TYPES.get(run.precision)
    if used is None or not on_gpu(run) or kind is None:
        return None
    for _, gpu in used.used:
        capability = gpu.compute_capability
        if used.device_name(gpu) in run.devices and capability is not None and not gpu_tables.supports(capability, kind):
            return gpu
    return None


def repairs(context: Context, *, dtype: str = "", better: str = "") -> Fixes:
    """Train in a precision that the GPU supports.

    Args:
        context: what is known about the machine.
        dtype: the unsupported one, as in the log: "bf16", "mixed_float16".
        better: the policy that works on this GPU; empty: unknown.
    """
    bfloat16 = dtype.removeprefix("mixed_").startswith("bf")
    if context.framework == "torch":
        if bfloat16:
            yield Fix(text="On Volta and Turing GPUs, use float16 with loss scaling: fp16=True instead of bf16=True")
        yield Fix(
            text="Or compute in float32: model.float()"
            if bfloat16
            else "Compute in float32 on a device without it: model.float()"
        )
        return
    policy = "keras.mixed_precision.set_global_policy"
    if better:
        yield Fix(text=f'Use the precision that this GPU supports: {policy}("{better}")')
        return
    if bfloat16 or not dtype:
        yield Fix(text=f'On Volta and Turing GPUs: {policy}("mixed_float16")')
    yield Fix(text=f'On older GPUs: {policy}("float32")' if bfloat16 or not dtype else f'Train in float32: {policy}("float32")')
