"""Several GPUs train much more slowly than expected from one GPU's speed, and no fault explains it.

Symptom:
    - Two GPUs take hardly less time per epoch than one.
    - gpucheck: scaling_efficiency is below 0.8.
Cause:
    Scaling efficiency is the samples per second of all GPUs, divided by those of one GPU times their number. What is lost goes
    into summing gradients between the GPUs, into an input pipeline that feeds one GPU but not eight, or into steps so short that
    starting them costs more than computing them. gpucheck --full measures each part separately: summing gradients like the
    network's, steps on a repeated batch, and the step of one GPU.
Verify:
    gpucheck --full: scaling_efficiency is above 0.8.
Unless:
    The model is so small that one GPU is enough for it. Mixed precision does not help: Keras keeps weights and gradients in
    float32, so the same amount of data is sent.
Example:
    machine: hgx-h200
    training.runs[8].scaling_efficiency = 0.55
    training.runs[8].doubled_batch_scaling_efficiency = 0.57
    training.experiments = [{"name": "scaling", "status": "passed", "devices": ["GPU:0", "GPU:1", "GPU:2", "GPU:3", "GPU:4", "GPU:5", "GPU:6", "GPU:7"], "figures": {"all_devices_step_seconds": 0.032, "all_devices_repeated_batch_step_seconds": 0.0315, "one_device_step_seconds": 0.0175, "one_device_repeated_batch_step_seconds": 0.0174, "gradient_all_reduce_seconds": 0.013, "large_all_reduce_bytes_per_second": 9.1e9}}]
    -> mirrored on GPU:0-7 reaches 55 % of 8 times the speed of one GPU: a step takes 14.5 ms longer, of which summing gradients over NVLink takes 13 ms.
References:
    https://www.tensorflow.org/guide/gpu_performance_analysis
    https://www.tensorflow.org/guide/mixed_precision
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
"""

from gpucheck.core.combiners.scaling import ScaledRun, Scaling
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, label
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule
from gpucheck.core.model.wording import milliseconds
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import CACHE_DATA, PREPARE_AHEAD

_FEEDING = ("input-pipeline-bound", "cpu-quota-too-low")  # causes of time spent waiting instead of summing gradients


@rule(severity=Severity.WARNING, scope=Scope.HOST)
def check(scaling: Scaling, outcomes: TrainingOutcomes, context: Context) -> Finding | Skip | None:
    """Report a run below the expected efficiency, and where its time goes. Specific faults explain this finding."""
    if not scaling.several:
        return None
    if not scaling.measured:
        return Skip("scaling over several GPUs was not measured")
    if not scaling.inefficient:
        return None
    worst = min(scaling.inefficient, key=lambda scaled: scaled.efficiency)
    run, lost = worst.run, worst.lost
    kind = run.devices[0].partition(":")[0]
    reaches = f"{label(run)} reaches {100 * worst.efficiency:.0f} % of {len(run.devices)} times the speed of one {kind}"
    return Finding(
        summary=reaches + _explanation(worst),
        evidence=(
            *outcomes.saw_run(worst.place, "scaling_efficiency", "per_replica_batch_size"),
            *(lost.evidence if lost is not None else ()),
            *(worst.links.evidence if worst.links is not None else ()),
        ),
        fix=repairs(context, **_measured(worst)),
        affects=run.devices,
        not_explained_by=_FEEDING if lost is not None and lost.cause == "exchange" else (),
    )


def _explanation(scaled: ScaledRun) -> str:
    """Describe where the time goes; a batch that is too small has its own rule."""
    lost, small_batch = scaled.lost, scaled.larger_batch_helps
    if lost is None:
        return "." if small_batch else ", and no cause for it was found."
    longer = f": a step takes {milliseconds(lost.seconds)} longer, of which"
    exchange, waiting = milliseconds(lost.exchange), milliseconds(lost.waiting)
    if lost.cause == "input":
        return f"{longer} waiting for the input pipeline, which feeds {len(scaled.run.devices)} devices, takes {waiting}."
    over = f" over {scaled.links.name}" if scaled.links is not None else ""
    if lost.cause == "exchange":
        return f"{longer} summing gradients{over} takes {exchange}."
    unknown = "" if small_batch else ", and no single cause for it was found"
    return f"{unknown}{longer} summing gradients takes {exchange} and the input pipeline {waiting}."


def repairs(context: Context, *, cause: str = "", twice: str = "", bandwidth: str = "", nvlink: str = "") -> Fixes:
    """Reduce the largest part of the lost time.

    Args:
        context: unused, because the path between GPUs is the same in a container.
        cause: the largest part: "exchange", "input"; empty: unknown.
        twice: the efficiency in percent with a doubled batch.
        bandwidth: the bandwidth of a large sum over the GPUs, in GB/s.
        nvlink: "no" if not all GPUs are connected by NVLink.
    """
    reached = f" (twice the batch reached {twice} %)" if twice else ""
    larger = Fix(text=f"Use a larger batch per replica: the same data then takes fewer steps and fewer gradient sums{reached}")
    if cause == "input":
        yield from (PREPARE_AHEAD, CACHE_DATA, larger)
        return
    if nvlink == "no":
        yield Fix(text="Train only on the GPUs with the shortest path to each other (CUDA_VISIBLE_DEVICES)")
    yield larger
    if not cause:
        yield PREPARE_AHEAD
    alone = f"; on its own, summing a large tensor reaches {bandwidth} GB/s" if bandwidth else ""
    yield Fix.look(
        f"Check how the GPUs are connected (NV: NVLink; PIX, PXB: one PCIe switch; SYS: across processors){alone}",
        "nvidia-smi topo -m",
    )


def _measured(scaled: ScaledRun) -> dict[str, str]:
    """Return the measurements of the run, as arguments of the repairs."""
    lost, twice = scaled.lost, scaled.run.doubled_batch_scaling_efficiency
    return {
        "cause": (lost.cause or "") if lost is not None else "",
        "twice": f"{100 * twice:.0f}" if twice is not None else "",
        "bandwidth": f"{lost.bandwidth / 1e9:.3g}" if lost is not None and lost.cause and lost.bandwidth else "",
        "nvlink": "no" if scaled.links is not None and not scaled.links.nvlink else "",
    }
