"""The memory of a GPU lost data beyond repair, or has no spare rows left to repair it with.

Symptom:
    CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered
    NVRM: Xid (PCI:0000:3b:00): 48 / 63 / 64 / 94 / 95
    nvidia-smi -q -d ECC,ROW_REMAPPER: Uncorrectable errors, Remapping Failure Occurred: Yes
Cause:
    Error correction repairs single bits; two in one word are lost, and the process that used them is killed or computes with
    wrong numbers. The GPU then sets the row or page aside, which takes effect at its next reset.
Fix:
    1. See what was counted: nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT
    2. Take the machine out of service, let its jobs end, and restart it: pending rows and pages are then replaced.
    3. If errors come back, or remapping failed: test with dcgmi diag -r 3 and have the board replaced.
Verify:
    After the restart the volatile counters are 0 and nothing is pending.
Unless:
    Only the aggregate counters are above 0: that is the board's history, and gpucheck does not report it.
Example:
    gpus.gpus[0].ecc_uncorrected_volatile = 3
    gpus.gpus[0].ecc_uncorrected_aggregate = 3
    -> GPU 0 (NVIDIA H200) has had 3 uncorrectable memory errors since the driver was loaded.
References:
    https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html
    https://docs.nvidia.com/deploy/xid-errors/index.html
"""

from gpucheck.model import Finding, Fix, Scope, Severity, Skip, saw
from gpucheck.plugin import rule
from gpucheck.probes.gpus import Gpu, Gpus
from gpucheck.probes.log import Log
from gpucheck.probes.training import Training
from gpucheck.rules._training import failure, title

XIDS = ("48", "64", "94", "95")  # double-bit error, remapping failed, contained, uncontained
CODES = ("214", "226", "CUDA_ERROR_ECC_UNCORRECTABLE", "CUDA_ERROR_CONTAINED")
LOST = r"CUDA_ERROR_ECC_UNCORRECTABLE|CUDA_ERROR_CONTAINED|[Uu]ncorrectable ECC"
FIELDS = ("ecc_uncorrected_volatile", "remapping_failed", "remapping_pending", "retired_pages_pending")


@rule(
    severity=Severity.ERROR,
    scope=Scope.HARDWARE,
    explains=("loss-not-finite", "loss-not-falling", "replicas-diverged", "training-failed", "training-crashed"),
)
def check(gpus: Gpus | None, training: Training | None, log: Log | None) -> Finding | Skip | None:
    """Uncorrectable errors since the driver was loaded, or a repair that failed or waits; else a log that says so."""
    bad = [(place, gpu, what) for place, gpu in enumerate(gpus.gpus) if (what := _trouble(gpu))] if gpus else []
    if gpus is not None and bad:
        _, worst, what = bad[0]
        more = f"; {len(bad)} GPUs have memory errors" if len(bad) > 1 else ""
        only_pending = all(gpu.remapping_pending and _lost(gpu) is None for _, gpu, _ in bad)
        return Finding(
            summary=f"{title(worst)} {what}{more}.",
            evidence=tuple(
                item
                for place, gpu, _ in bad
                for item in saw(gpus, *(f"gpus[{place}].{field}" for field in FIELDS if getattr(gpu, field)))
            ),
            fix=_fix(),
            affects=tuple(f"GPU {gpu.index}" for _, gpu, _ in bad),
            severity=Severity.WARNING if only_pending else Severity.ERROR,
        )
    seen = failure(
        training,
        log,
        LOST,
        "xid",
        "cuda-error",
        "ecc-uncorrectable",
        where=lambda event: (
            event.kind == "ecc-uncorrectable"
            or event.fields.get("code") in (XIDS if event.kind == "xid" else CODES)
            or (event.kind == "cuda-error" and event.fields.get("name") in CODES)
        ),
    )
    if seen is not None and not isinstance(seen, Skip):
        return Finding(
            summary=f"GPU memory lost data beyond repair: {seen.text}.",
            evidence=seen.evidence,
            fix=_fix(),
            affects=seen.affects,
        )
    if gpus is None:
        return seen
    known = any(getattr(gpu, field) is not None for gpu in gpus.gpus for field in FIELDS)
    return None if known or not gpus.gpus else Skip("these GPUs do not count memory errors")


def _trouble(gpu: Gpu) -> str | None:
    lost = _lost(gpu)
    if lost is not None:
        return lost
    return "waits for a reset to replace a faulty row of its memory" if gpu.remapping_pending else None


def _lost(gpu: Gpu) -> str | None:
    if gpu.remapping_failed:
        return "has run out of spare rows for its faulty memory (row remapping failed)"
    if count := gpu.ecc_uncorrected_volatile:
        errors = "1 uncorrectable memory error" if count == 1 else f"{count} uncorrectable memory errors"
        return f"has had {errors} since the driver was loaded"
    return "has faulty memory pages that are retired only at the next restart" if gpu.retired_pages_pending else None


def _fix() -> tuple[Fix, ...]:
    return (
        Fix(text="See what was counted", command="nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT"),
        Fix(text="Take the machine out of service, let its jobs end, and restart it: that completes pending repairs"),
        Fix(text="If errors come back, or remapping failed, test the board and have it replaced", command="dcgmi diag -r 3"),
    )
