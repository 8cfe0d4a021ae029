"""Several GPUs train much slower than their number times one of them, and no page names why.

Symptom:
    Two GPUs take hardly less time per epoch than one.
    gpucheck: scaling_efficiency is below 0.8.
Cause:
    Scaling efficiency is the samples per second of all GPUs, divided by those of one GPU times their number. What is lost goes
    into summing gradients between the GPUs, into an input pipeline that feeds one GPU but not eight, or into steps so short that
    starting them costs more than computing them.
Fix:
    1. See how the GPUs are joined: nvidia-smi topo -m (NV: NVLink; PIX, PXB: one PCIe switch; SYS: across processors)
    2. Measure with a larger batch per replica, then without the input pipeline: what helps names the cause.
    3. Train in mixed precision, which halves what has to be sent.
Verify:
    gpucheck --full: scaling_efficiency is above 0.8.
Unless:
    The model is so small that one GPU is enough for it.
Example:
    machine: hgx-h200
    training.runs[8].scaling_efficiency = 0.55
    training.runs[8].doubled_batch_scaling_efficiency = 0.57
    -> mirrored on GPU:0 to GPU:7 reaches 55 % of 8 times what one GPU does alone, and no cause for it was found.
References:
    https://www.tensorflow.org/guide/gpu_performance_analysis
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
"""

from gpucheck.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.plugin import rule
from gpucheck.probes.training import Training
from gpucheck.rules._scaling import measured, several, short_runs
from gpucheck.rules._training import label


@rule(severity=Severity.WARNING, scope=Scope.HOST)
def check(training: Training) -> Finding | Skip | None:
    """A measured run falls short; the pages that know a cause explain this one."""
    if not several(training):
        return None
    if not measured(training):
        return Skip("scaling over several GPUs was not measured")
    bad = short_runs(training)
    if not bad:
        return None
    place, run, efficiency = min(bad, key=lambda item: item[2])
    kind = run.devices[0].partition(":")[0]
    return Finding(
        summary=f"{label(run)} reaches {100 * efficiency:.0f} % of {len(run.devices)} times what one {kind} does alone, and no"
        " cause for it was found.",
        evidence=saw(training, f"runs[{place}].scaling_efficiency", f"runs[{place}].per_replica_batch_size"),
        fix=(
            Fix(text="See how the GPUs are joined", command="nvidia-smi topo -m"),
            Fix(text="Measure with a larger batch per replica, then without the input pipeline: what helps names the cause"),
            Fix(
                text='Train in mixed precision, which halves what is sent: keras.mixed_precision.set_global_policy("mixed_float16")'
            ),
        ),
        affects=run.devices,
    )
