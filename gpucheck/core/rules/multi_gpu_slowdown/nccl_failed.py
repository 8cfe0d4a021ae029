"""NCCL, the library that GPUs use to exchange gradients, failed.

Symptom:
    NcclAllReduce ... unhandled system error
    NCCL WARN Cuda failure 'peer access is not supported between these two devices'
    NCCL WARN Error while creating shared memory segment
    - Training on several GPUs hangs before its second step, and nvidia-smi shows 100 % on all of them
Cause:
    NCCL needs a path between the GPUs: peer access over NVLink or PCIe, else shared memory, and a network interface between
    machines. Common causes are too little /dev/shm, PCIe access control (ACS) in the firmware, a broken link, or NCCL_* variables
    that select the wrong interface.
Verify:
    $ gpucheck --strategy mirrored
Unless:
    The line "not using nccl allreduce" on a single GPU or a CPU is harmless.
Example:
    machine: hgx-h200
    training.runs[8].status = "failed"
    training.runs[8].stage = "first step"
    training.runs[8].reason = "InternalError: NCCL: unhandled system error (run with NCCL_DEBUG=INFO for details)"
    -> NCCL failed in mirrored on GPU:0-7: InternalError: NCCL: unhandled system error (run with NCCL_DEBUG=INFO for details).
References:
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
"""

import re
from collections.abc import Callable

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.nccl_trial import NcclTrial
from gpucheck.core.combiners.training_outcomes import on_gpu
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import other_interface, without_nccl

_LOOK = Fix.look("Make NCCL print what it does when the job runs again", "export NCCL_DEBUG=INFO")
_PEERS = Fix(
    text="Try without peer access; if that helps, the path between the GPUs is at fault (ACS, NVLink)",
    command="export NCCL_P2P_DISABLE=1",
)
_FULL = Fix(
    text="Free GPU memory for NCCL's buffers: use a smaller batch, or end other programs on these GPUs (nvidia-smi lists them)"
)
_FIRST_RANK = Fix(
    text="Read the output of the process that ended or stopped first: the other processes only report that it no longer responds"
)
_LONGER_TIMEOUT = Fix(
    text="If one of them only needs more time, for example to save a file, raise the timeout:"
    " torch.distributed.init_process_group(timeout=datetime.timedelta(hours=2))"
)


@rule(scope=Scope.HOST, explains=("training-failed", "training-crashed"), first_check="NCCL's own messages, with NCCL_DEBUG=INFO")
def check(trial: NcclTrial, log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report a failed run or a log line that names NCCL, or a run that passes only without NCCL."""
    cause, failed = log_causes.cause("nccl-failed"), log_causes.failed_run("nccl-failed", on_gpu)
    named = cause.values(repairs.__kwdefaults__ or ()) if cause is not None else {}
    if failed is not None and failed.run is not None:
        named["lines"] = f"{failed.run.reason}\n{named.get('lines', '')}"
    fix = repairs(context, **{**named, "exchange": trial.exchange})
    if (failure := log_causes.failure("nccl-failed", "NCCL failed in {run}: {text}.", fix, on=on_gpu)) is not None:
        return failure
    if trial.passed is None or not on_gpu(trial.passed):
        return log_causes.outcomes.skip
    return Finding(summary=trial.sentence("NCCL"), evidence=trial.evidence, fix=fix, affects=trial.passed.devices)


def repairs(
    context: Context, *, lines: str = "", peer: str = "", interface: str = "", asked: str = "", exchange: str = ""
) -> Fixes:
    """Repair the path between the GPUs that the lines report.

    Args:
        context: what is known about the machine.
        lines: the log lines of the failure.
        peer: address of the machine that was unreachable over InfiniBand.
        interface: the network interface that NCCL uses.
        asked: the value of NCCL_SOCKET_IFNAME.
        exchange: class of tf.distribute with which training passed.
    """
    if exchange:
        yield without_nccl(exchange, tried=True)
    way = next((way for way, pattern in _NAMED.items() if re.search(pattern, lines)), "")
    if way == "network":
        yield from other_interface(interface, asked)
    elif way == "infiniband":
        yield from _infiniband(peer)
    elif way:
        yield from _REPAIRS[way](context)
    else:
        yield from _unknown(context, lines or exchange)
    if not exchange and way in ("", "shared memory", "peers"):
        yield from context.only(without_nccl(), framework="tensorflow")
    if way not in ("memory", "no kernel", "not loaded"):
        yield _LOOK


def _infiniband(peer: str) -> Fixes:
    between = f"between this machine and {peer}" if peer else "between the machines"
    yield Fix(
        text=f"Repair InfiniBand {between}: cable, port, switch, subnet manager; with RoCE, set NCCL_IB_GID_INDEX to the entry"
        " that both use"
    )
    yield Fix(text="Until then, use the slower network for NCCL", command="export NCCL_IB_DISABLE=1")
    yield Fix.look("Check on each machine that the ports are Active and LinkUp", "ibstat")


def _shared_memory(context: Context) -> Fixes:
    docker = Fix(
        text="Start the container with more shared memory (or with --ipc=host)", command="docker run --shm-size=1g IMAGE"
    )
    pod = Fix(text="Mount an emptyDir volume with medium: Memory at /dev/shm")
    podman = Fix(text=docker.text, command="podman run --shm-size=1g IMAGE")
    yield from context.only(docker, container="docker|containerd")
    yield from context.only(pod, container="kubernetes")
    if context.kinds["container"] == "podman":
        yield podman
    if not context.in_container:
        yield Fix(
            text="If /dev/shm is small on this machine itself, enlarge it", command="sudo mount -o remount,size=8G /dev/shm"
        )
    yield Fix(text="Or use the network for NCCL instead, which is slower", command="export NCCL_SHM_DISABLE=1")


def _unknown(context: Context, lines: str) -> Fixes:
    """Yield the most common fixes, if no line identifies the path that failed."""
    if "system error" in lines and (context.container is None or context.in_container):
        yield from _shared_memory(context)
    yield _PEERS
    if not lines:
        yield Fix(text="If its message mentions NET/IB, train without InfiniBand", command="export NCCL_IB_DISABLE=1")
        yield Fix(text="If it mentions shared memory in Docker, enlarge that", command="docker run --shm-size=1g IMAGE")


_LOCKED = (
    Fix(text="Allow the process to lock memory, which InfiniBand needs, in the job script", command="ulimit -l unlimited"),
    Fix(text="In a container, set the limit at its start: docker run --ulimit memlock=-1 IMAGE"),
)
_ONE_COPY = Fix(
    text="Load only one NCCL into the process: next to JAX, use TensorFlow for the CPU (pip install tensorflow-cpu instead of"
    " tensorflow), or run each framework in its own process"
)
_OWN_GPU = Fix(
    text="Give each process its own GPU, for example CUDA_VISIBLE_DEVICES=0 for the first and 1 for the second: two processes on"
    " one GPU are the most common invalid usage"
)
_NOT_LOADED = "Install NCCL for the CUDA of the framework (nvidia-nccl-cu13 with CUDA 13)"
_SAME_CALLS = Fix(
    text="Make the same collective calls on every rank in the same order with the same shapes: the same number of steps on"
    " each, and batches of the same size (drop_remainder=True)"
)
_WITHOUT_XLA = Fix(text="Train without XLA, which does not support several workers: model.compile(..., jit_compile=False)")

_ONE_NAMESPACE = Fix(
    text="Share one /dev/shm between all ranks of a machine (docker run --ipc=host), and read the output of the rank that ended first: its"
    " segment is missing"
)
_DIRECT = (
    Fix(text="Train without GPUDirect RDMA, in which a memory access failed", command="export NCCL_NET_GDR_LEVEL=0"),
    Fix(
        text="To use GPUDirect RDMA, load nvidia_peermem, use matching drivers for the GPU and the adapter, and turn off ACS and"
        " the IOMMU"
    ),
)

# Patterns of NCCL's lines, the most specific first.
_NAMED = {
    "gpudirect": r"NET/IB[^\n]{0,120}with (?:error|status)[ =]?(?:4\b|IBV_WC_LOC_PROT_ERR)",
    "namespace": r"attaching to shared memory segment[^\n]*No such file",
    "locked memory": r"\bibv_\w+[^\n]{0,60}Cannot allocate memory|\bibv_create_(?:qp|cq) failed(?! with error)",
    "efa": r"NET/OFI|provider efa",
    "two copies": r"corrupted comm object",
    "infiniband": r"NET/IB\b|\bibv_|IBV_WC_|\bmlx\d_\d",
    "shared memory": r"(?i)shared memory|/dev/shm|posix_fallocate|\bshmget\b",
    "network": r"no socket interface|NET/Socket|socketStartConnect|[Bb]ootstrap\b.*\binterface",
    "not loaded": r"Unable to load NCCL library",
    "calls": r"[Mm]ismatched collective",
    "xla": r"custom call 'xla\.[^\n]*invalid usage",
    "no kernel": r"No OpKernel was registered",
    "memory": r"(?i)out of memory",
    "usage": r"(?i)invalid ?usage|-> 5\b",  # ncclInvalidUsage
    "peers": r"(?i)peer access|\bP2P\b",
    "other rank": r"(?i)time(?:d )?out|heartbeat|connection (?:closed|reset) by|Bad file descriptor|ncclRemoteError|remote (?:error|process exited)|communicator was aborted",
}
_EFA = (
    Fix(
        text="Make the EFA network available to NCCL: update the EFA installer and aws-ofi-nccl together, allow all"
        " traffic within the security group, and give a container /dev/infiniband (in Kubernetes vpc.amazonaws.com/efa)"
    ),
    Fix(text="Until then, use the slower network for NCCL", command="export NCCL_NET=Socket"),
    Fix.look("Check whether libfabric finds the adapter", "fi_info -p efa"),
)
_REPAIRS: dict[str, Callable[[Context], Fixes]] = {
    "gpudirect": lambda _: iter(_DIRECT),
    "namespace": lambda _: iter([_ONE_NAMESPACE]),
    "locked memory": lambda _: iter(_LOCKED),
    "efa": lambda _: iter(_EFA),
    "two copies": lambda _: iter([_ONE_COPY]),
    "shared memory": _shared_memory,
    "not loaded": lambda context: iter([Fix(text=_NOT_LOADED, command=context.pip("nvidia-nccl-cu12"))]),
    "calls": lambda _: iter([_SAME_CALLS]),
    "xla": lambda context: iter([*context.only(_WITHOUT_XLA, framework="tensorflow"), _OWN_GPU]),
    "no kernel": lambda _: iter([without_nccl()]),
    "memory": lambda _: iter([_FULL]),
    "usage": lambda _: iter([_OWN_GPU]),
    "peers": lambda _: iter([_PEERS]),
    "other rank": lambda context: iter([_FIRST_RANK, *context.only(_LONGER_TIMEOUT, framework="torch")]),
}
