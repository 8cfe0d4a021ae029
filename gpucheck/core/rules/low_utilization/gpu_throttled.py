"""A GPU runs below its normal clocks because it is too hot or its power is limited.

Symptom:
    - Training gets slower after some minutes, or one GPU of several is slower than the others.
    nvidia-smi -q -d PERFORMANCE: HW Thermal Slowdown: Active, HW Power Brake Slowdown: Active
Cause:
    The GPU slows down to protect itself (thermal slowdown), or the machine forces it to save power (power brake), because of
    blocked airflow, broken fans, a hot room, or a power supply that failed or is too small.
Verify:
    nvidia-smi -q -d PERFORMANCE under load: no slowdown is active.
Unless:
    The only active reason is SW Power Cap at full load: a busy GPU runs at its power limit, and gpucheck does not report that.
Example:
    gpus.gpus[0].clock_event_reasons = 72
    gpus.gpus[0].temperature_celsius = 91
    gpus.gpus[0].sm_clock_mhz = 990
    gpus.gpus[0].utilization_percent = 100
    -> GPU 0 (NVIDIA H200) is throttling because of heat (HwSlowdown, HwThermalSlowdown) at 91 °C: its SM clock is 990 of 1980 MHz.
Example:
    activity.gpus = [{"index": 0, "samples": 40, "slowed_samples": 12, "slowed_by": ["SwThermalSlowdown"], "slowed_sm_clock_mhz": 1305}]
    -> GPU 0 (NVIDIA H200) was throttling because of heat (SwThermalSlowdown) in 12 of 40 samples during training: its SM clock was 1305 of 1980 MHz.
References:
    https://docs.nvidia.com/deploy/nvml-api/group__nvmlClocksEventReasons.html
"""

from collections.abc import Sequence

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.compat import nvml
from gpucheck.core.model import Action, Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.activity import Activity
from gpucheck.core.probes.gpus import Gpu
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import REPLACE_MACHINE

# The share of samples during training, taken every fifth of a second, in which the GPU was slowed. A lower share may be a change
# of state, or a brief moment in a long run.
LEAST_SAMPLES, LEAST_SHARE = 3, 0.05
_CAUSES = {"SwThermalSlowdown": "heat", "HwThermalSlowdown": "heat", "HwPowerBrakeSlowdown": "the machine's power brake"}


@rule(
    severity=Severity.WARNING,
    scope=Scope.HARDWARE,
    explains=("scaling-inefficient",),
    first_check="temperature and power limit of the GPU",
)
def check(used: GpusInUse, activity: Activity | None, context: Context) -> Finding | Skip | None:
    """Report a harmful clock event reason, now or during training; on an idle GPU, some reasons are harmless."""
    reporting = [(place, gpu) for place, gpu in used.used if gpu.clock_event_reasons is not None]
    slowed = [(place, gpu) for place, gpu in reporting if _reasons(gpu)]
    if slowed:
        return _now(used, slowed, context)
    if activity is not None and (finding := _while_training(used, activity, context)) is not None:
        return finding
    return None if reporting or not used.used else Skip("the GPUs do not report why their clocks are low")


def _reasons(gpu: Gpu) -> list[str]:
    return nvml.harmful_reasons(gpu.clock_event_reasons or 0)


def _cause(reasons: Sequence[str]) -> str:
    """Describe why the clocks are low, in plain words and in NVML's terms."""
    causes = dict.fromkeys(_CAUSES[reason] for reason in reasons if reason in _CAUSES)
    return f"{listing(list(causes)) or 'a hardware limit'} ({', '.join(reasons)})"


def _now(used: GpusInUse, slowed: list[tuple[int, Gpu]], context: Context) -> Finding:
    worst = slowed[0][1]
    heat = f" at {worst.temperature_celsius} °C" if worst.temperature_celsius is not None else ""
    clock, most = worst.sm_clock_mhz, worst.sm_clock_max_mhz
    clocks = f": its SM clock is {clock} of {most} MHz" if clock is not None and most is not None else ""
    more = f"; {len(slowed)} of {len(used.used)} GPUs are throttling" if len(slowed) > 1 else ""
    names = ("clock_event_reasons", "temperature_celsius", "sm_clock_mhz")
    return Finding(
        action=Action.IGNORE,
        summary=f"{worst.title} is throttling because of {_cause(_reasons(worst))}{heat}{clocks}{more}.",
        evidence=saw(used.gpus, *(f"gpus[{place}].{name}" for place, _ in slowed for name in names)),
        fix=repairs(context, reason=_cause(_reasons(worst)), index=str(worst.index)),
        affects=tuple(gpu.label for _, gpu in slowed),
    )


def _while_training(used: GpusInUse, activity: Activity, context: Context) -> Finding | None:
    gpus = {gpu.index: gpu for _, gpu in used.used}
    slowed = [
        (place, active)
        for place, active in enumerate(activity.gpus)
        if active.index in gpus and (active.slowed_samples or 0) >= max(LEAST_SAMPLES, LEAST_SHARE * active.samples)
    ]
    if not slowed:
        return None
    worst = max((active for _, active in slowed), key=lambda active: active.slowed_samples or 0)
    clock, most = worst.slowed_sm_clock_mhz, gpus[worst.index].sm_clock_max_mhz
    clocks = f": its SM clock was {clock:.0f} of {most} MHz" if clock is not None and most is not None else ""
    more = f"; {len(slowed)} of {len(used.used)} GPUs were throttling" if len(slowed) > 1 else ""
    names = ("slowed_by", "slowed_samples", "samples", "slowed_sm_clock_mhz")
    return Finding(
        action=Action.IGNORE,
        summary=f"{gpus[worst.index].title} was throttling because of {_cause(worst.slowed_by)} in {worst.slowed_samples} of"
        f" {worst.samples} samples during training{clocks}{more}.",
        evidence=saw(activity, *(f"gpus[{place}].{name}" for place, _ in slowed for name in names)),
        fix=repairs(context, reason=_cause(worst.slowed_by), index=str(worst.index)),
        affects=tuple(f"GPU {active.index}" for _, active in slowed),
    )


def repairs(context: Context, *, reason: str = "", index: str = "") -> Fixes:
    """Cool the GPU, or increase its power limit.

    Args:
        context: what is known about the machine.
        reason: why its clocks are low, in plain words or NVML's terms: "hw thermal slowdown", "power".
        index: the GPU's index in nvidia-smi.
    """
    power = "power" in reason.lower()
    heat = "heat" in reason or "thermal" in reason.lower()
    if heat or not power:
        yield Fix(text="Let the GPU cool down: check air flow, fans, dust and room temperature")
    if power or not heat:
        yield Fix(text="Give it the power that it needs: check the machine's power supplies, and the card's power cables")
    yield REPLACE_MACHINE
    yield Fix.look(
        "Monitor it under load",
        f"nvidia-smi{f' -i {index}' if index else ''}"
        " --query-gpu=index,temperature.gpu,clocks.sm,clocks_event_reasons.active --format=csv -l 5",
    )
