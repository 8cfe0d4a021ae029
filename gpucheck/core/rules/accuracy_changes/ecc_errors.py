"""A GPU's memory had uncorrectable errors, or has no spare rows left to replace faulty ones.

Symptom:
    CUDA_ERROR_ECC_UNCORRECTABLE: uncorrectable ECC error encountered
    NVRM: Xid (PCI:0000:3b:00): 48 / 63 / 64 / 94 / 95
    - nvidia-smi -q -d ECC,ROW_REMAPPER: Uncorrectable errors, Remapping Failure Occurred: Yes
Cause:
    Error correction repairs a single wrong bit of a word, but only detects two. The process that used the word is then ended
    before it computes with it; in rare cases, and always before Ampere, every process on the GPU is ended. The GPU then retires
    the row or page, which takes effect at its next reset.
Verify:
    After the restart the volatile counters are 0 and nothing is pending.
Unless:
    Only the aggregate counters are above 0, or the kernel log reports errors that a reset has repaired: that is the board's
    history, and gpucheck does not report it.
    The errors were contained (Xid 94), or the driver reports that no action is needed: then only the affected program must be
    restarted, and gpucheck reports a warning.
Example:
    gpus.gpus[0].ecc_uncorrected_volatile = 3
    gpus.gpus[0].ecc_uncorrected_aggregate = 3
    -> GPU 0 (NVIDIA H200) has had 3 uncorrectable memory errors since the driver was loaded.
References:
    https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html
    https://docs.nvidia.com/deploy/xid-errors/index.html
"""

from collections.abc import Sequence

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.xid_reports import (
    COUNTED,
    XidReport,
    XidReports,
    affected,
    cited,
    codes,
    finding,
    has_memory_errors,
)
from gpucheck.core.model import Action, Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import listing
from gpucheck.core.probes.gpus import Gpu, Gpus
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import TEST_GPU
from gpucheck.core.repairs.machine import act, required_action

_CONTAINED = (63, 94)  # Xids of an error that ended only the affected program
_COUNTERS = Fix.look("Show the error counters", "nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT")
_BOARD = Fix(text="If errors occur again, or remapping failed, have the board replaced")
FIELDS = ("ecc_uncorrected_volatile", "remapping_failed", "remapping_pending", "retired_pages_pending")


@rule(
    scope=Scope.HARDWARE,
    explains=(
        *("loss-not-finite", "loss-not-falling", "replicas-diverged", "device-results-differ"),
        *("training-failed", "training-crashed", "nccl-failed"),
    ),
    first_check="the error counts: nvidia-smi -q -d ECC, and the kernel log",
)
def check(xids: XidReports, gpus: Gpus | None, log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report uncorrectable errors since the driver was loaded, or a failed or pending repair; else a log that reports them."""
    reports = xids.of("memory")
    if gpus is not None and any(has_memory_errors(gpu) for gpu in gpus.gpus):
        return _counted(gpus, reports, xids, context)
    if reports:
        return _reported(reports, xids, context)
    summary = "GPU memory had an uncorrectable error: {text}."
    failure = log_causes.failure("ecc-errors", summary, repairs(context), severity=Severity.ERROR)
    if failure is not None:
        return failure
    if gpus is None:
        return log_causes.outcomes.skip
    if unread := [gpu.label for gpu in gpus.gpus if gpu.ecc_unread]:
        return Skip(f"the memory errors of {listing(unread)} could not be read")
    counted = any(getattr(gpu, field) is not None for gpu in gpus.gpus for field in FIELDS)
    return None if counted or not gpus.gpus else Skip("these GPUs do not count memory errors")


def _counted(gpus: Gpus, reports: list[XidReport], xids: XidReports, context: Context) -> Finding:
    bad = [(place, gpu, problem) for place, gpu in enumerate(gpus.gpus) if (problem := _problem(gpu))]
    actions = [_action(gpu, reports, xids) for _, gpu, _ in bad]
    _, worst, problem = bad[actions.index(Action.strongest(actions))]
    others = [(report, xids.action([report])) for report in reports if not _counts(report, bad)]
    action = Action.strongest([*actions, *(required for _, required in others)])
    what = f"{worst.title} {problem}"
    if action not in actions:  # a message, not a counter, requires the strongest action
        what = _messages(next(report for report, required in others if required is action))
    affects = tuple(dict.fromkeys([*(gpu.label for _, gpu, _ in bad), *affected(report for report, _ in others)]))
    more = f"; {len(affects)} GPUs have memory errors" if len(affects) > 1 else ""
    fields = (f"gpus[{place}].{field}" for place, gpu, _ in bad for field in FIELDS if getattr(gpu, field))
    requests = [request for _, gpu, _ in bad if (request := xids.requested_action(gpu)) is not None]
    required_actions = [
        *zip((gpu.pci_address for _, gpu, _ in bad), actions, strict=True),
        *((each.device, its) for each, its in others),
    ]
    named = dict.fromkeys(address for address, required in required_actions if address and required is action)
    return Finding(
        summary=f"{what}{more}.",
        evidence=(*saw(gpus, *fields), *cited(reports), *cited(requests)),
        fix=repairs(context, action=action.value, devices=",".join(named), xids=codes(reports)),
        action=action,
        affects=affects,
    )


def _counts(report: XidReport, bad: Sequence[tuple[int, Gpu, str]]) -> bool:
    """Whether NVML's counters include the error of this message."""
    return report.code in COUNTED and any(report.gpu == gpu for _, gpu, _ in bad)


def _messages(report: XidReport) -> str:
    return f"{report.label} has had memory errors since its driver was loaded: {report.xid.title}"


def _action(gpu: Gpu, reports: list[XidReport], xids: XidReports) -> Action:
    """Return the driver's requested action; else one that depends on the state and on whether all errors were contained."""
    request = xids.requested_action(gpu)
    if request is not None and request.action is not Action.IGNORE:
        return request.action
    if _lost(gpu) is None:
        return Action.IGNORE  # the repair is pending; new work may start
    if gpu.remapping_failed or gpu.retired_pages_pending:
        return Action.RESET_GPU
    own = [report for report in reports if report.gpu is gpu]
    contained = bool(own) and all(report.xid.code in _CONTAINED for report in own)
    return Action.RESTART_APPLICATION if contained or request is not None else Action.RESET_GPU


def _reported(reports: list[XidReport], xids: XidReports, context: Context) -> Finding:
    first = min(reports, key=lambda report: report.xid.severity != "error")
    more = f", and {len(reports) - 1} more such messages" if len(reports) > 1 else ""
    return finding(f"{_messages(first)}{more}.", reports, xids.action(reports), repairs, context)


def repairs(context: Context, *, action: str = "", devices: str = "", xids: str = "") -> Fixes:
    """Let the GPU replace its faulty memory.

    Args:
        context: what is known about the machine.
        action: the required action; empty: the one that the messages request.
        devices: addresses, UUIDs or indices of the GPUs, comma-separated.
        xids: codes of the kernel's messages, comma-separated.
    """
    required = required_action(action, xids, Action.IGNORE)
    if required is Action.IGNORE:
        text = "Wait until the jobs on this GPU end, then reset it or restart the machine: that completes pending repairs"
        yield Fix(text=text, needs=("reboot",))
    yield from act(context, required, devices, xids)
    yield _BOARD
    yield _COUNTERS
    yield TEST_GPU


def _problem(gpu: Gpu) -> str | None:
    waits = "needs a reset to replace a faulty row of its memory"
    return _lost(gpu) or (waits if gpu.remapping_pending else None)


def _lost(gpu: Gpu) -> str | None:
    if gpu.remapping_failed:
        return "has run out of spare rows for its faulty memory (row remapping failed)"
    if count := gpu.ecc_uncorrected_volatile:
        errors = "1 uncorrectable memory error" if count == 1 else f"{count} uncorrectable memory errors"
        return f"has had {errors} since the driver was loaded"
    return "has faulty memory pages that are retired only at the next restart" if gpu.retired_pages_pending else None
