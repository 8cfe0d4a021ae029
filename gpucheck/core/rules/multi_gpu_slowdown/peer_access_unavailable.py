"""GPUs can't read each other's memory, and exchange gradients through main memory instead, or not at all.

Symptom:
    NCCL WARN Cuda failure 'peer access is not supported between these two devices'
    failed to enable peer access from GPU 0 to GPU 1
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
Cause:
    Peer access needs a path between the GPUs that hardware, firmware and driver all allow: NVLink, or PCIe without access
    control (ACS) and without an IOMMU or hypervisor in between. Many GeForce cards do not offer it at all.
Verify:
    nvidia-smi topo -p2p r shows OK for every pair, or NCCL trains with NCCL_P2P_DISABLE=1.
Unless:
    The cards never had peer access, and training scales well enough: gpucheck does not report that.
Example:
    machine: hgx-h200
    cuda.peers_missing = [[0, 3], [3, 0]]
    -> CUDA offers no peer access between GPU:0 and GPU:3, although an NVSwitch connects them.
References:
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#gpu-to-gpu-communication
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.scaling import Scaling
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes, label
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Severity, Skip, rule, saw
from gpucheck.core.model.wording import milliseconds
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import without_nccl


@rule(
    severity=Severity.WARNING, scope=Scope.HOST, explains=("nccl-failed", "scaling-inefficient"), first_check="nvidia-smi topo -m"
)
def check(
    cuda: Cuda | None, gpus: Gpus | None, scaling: Scaling | None, log_causes: LogCauses, context: Context
) -> Finding | Skip | None:
    """Report refused peer access that stopped training, or missing access despite an NVSwitch or with slow training."""
    outcomes = log_causes.outcomes
    failed = log_causes.failed_run("peer-access-unavailable")
    if failed is not None and failed.run is not None:
        return Finding(
            summary=f"Peer access between GPUs failed in {label(failed.run)}: {failed.text}.",
            evidence=failed.evidence,
            fix=repairs(context, text=failed.text),
            affects=failed.affects,
            severity=Severity.ERROR,
        )
    cause = log_causes.cause("peer-access-unavailable")
    if cause is not None and cause.events[0].kind == "peer-access-unavailable":  # CUDA's message is more specific than NCCL's
        return log_causes.repaired(cause, repairs, context)
    if cuda is None or cuda.peers_missing is None:
        if outcomes.skip is not None or (cuda is not None and (cuda.device_count or 0) > 1):
            return Skip("peer access between the GPUs was not queried")
        return None
    return _missing_access(cuda, gpus, scaling, outcomes, context)


def _missing_access(
    cuda: Cuda, gpus: Gpus | None, scaling: Scaling | None, outcomes: TrainingOutcomes, context: Context
) -> Finding | None:
    """Report pairs without access that an NVSwitch connects, or that slow down training."""
    pairs = list(dict.fromkeys(tuple(sorted(pair)) for pair in cuda.peers_missing or ()))
    switched = _switched(cuda, gpus)
    promised = [pair for pair in pairs if set(pair) <= switched]
    short = scaling.inefficient if scaling is not None else []
    slow = next((run for run in short if run.lost is None or run.lost.cause != "input"), None)
    evidence = saw(cuda, "peers_missing")
    if promised:
        pairs, why = promised, ", although an NVSwitch connects them"
    elif slow is not None and pairs:
        why = f", and {label(slow.run)} uses {100 * slow.efficiency:.0f} % of its devices"
        evidence += outcomes.saw_run(slow.place, "scaling_efficiency")
        if slow.lost is not None:
            why += f": summing gradients takes {milliseconds(slow.lost.exchange)} of each step"
            evidence += slow.lost.evidence
    else:
        return None
    return Finding(
        summary=f"CUDA offers no peer access between {_pairs(pairs)}{why}.",
        evidence=evidence,
        fix=repairs(context, state="unused"),
        affects=tuple(f"GPU:{ordinal}" for ordinal in sorted({ordinal for pair in pairs for ordinal in pair})),
    )


def _switched(cuda: Cuda, gpus: Gpus | None) -> set[int]:
    """Return the ordinals of the GPUs in an NVSwitch fabric."""
    joined = {gpu.pci_address for gpu in (gpus.gpus if gpus is not None else ()) if gpu.fabric_state == "completed"}
    return {device.ordinal for device in cuda.devices if device.pci_address is not None and device.pci_address in joined}


def _pairs(pairs: list[tuple[int, ...]]) -> str:
    first, second = pairs[0]
    more = len(pairs) - 1
    return f"GPU:{first} and GPU:{second}" + (f" (and {more} more pair{'s' if more > 1 else ''})" if more else "")


def repairs(context: Context, *, text: str = "", state: str = "") -> Fixes:
    """Train without peer access, or enable it if the machine supports it.

    Args:
        context: what is known about the machine.
        text: the line that refuses it.
        state: "unused": nothing failed, NCCL already uses another path.
    """
    if state != "unused":
        shared = " NCCL_SHM_DISABLE=1" if "shm.cc" in text else ""
        yield Fix(
            text=f"Turn off NCCL's peer access{' and shared memory' if shared else ''}, so that training works",
            command=f"export NCCL_P2P_DISABLE=1{shared}",
        )
        if not shared:
            yield from context.only(without_nccl(), framework="tensorflow")
    yield Fix(
        text="On your own machine, turn off PCIe access control (ACS) and the IOMMU in the firmware; in a virtual machine,"
        " request GPUs with peer access. Many GeForce cards don't support it"
    )
    yield Fix.look("Check which GPUs can access each other", "nvidia-smi topo -p2p r")
