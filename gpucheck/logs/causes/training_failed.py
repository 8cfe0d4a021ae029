"""What of a log is training-failed."""

from gpucheck.compat.xid import xid
from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._legacy import replacements
from gpucheck.rules._log import cite, told
from gpucheck.rules._training import KERNEL_FAULTS
from gpucheck.rules._words import short

# 31 is error 700 as the kernel's log has it, 43 what becomes of the program.
PROGRAM_XIDS = ("8", "11", "13", "25", "31", "32", "43", "68", "69", "80")


def in_log(log: Log) -> Finding | None:
    """A program of TensorFlow 1 under TensorFlow 2, or a kernel that broke the rules."""
    gone = [event for event in told(log, "legacy-api") if event.fields["name"].lower() != "mxnet"]  # a backend, not a name
    broken = [event for event in told(log, "cuda-error") if event.fields.get("code") in KERNEL_FAULTS]
    if broken and not gone:
        return Finding(
            summary=f"A kernel failed on the GPU: {short(broken[0].text)}.",
            evidence=cite(*broken),
            fix=(
                Fix(text="Let the error be told where it happens", command="export CUDA_LAUNCH_BLOCKING=1"),
                Fix(text="Look for labels and indices out of range: they are the usual cause, and the CPU names the line"),
                Fix(text="If another program fails likewise, look for Xid lines", command="sudo dmesg | grep -i xid"),
            ),
        )
    if not gone:
        return _program_xid(log)
    name = gone[0].fields["name"]
    return Finding(
        summary=f"The program uses {name}, which TensorFlow 2 and Keras have removed.",
        evidence=cite(*gone),
        fix=(
            *replacements(name),
            Fix(text="Or let it run as it is: import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()"),
        ),
    )


def _program_xid(log: Log) -> Finding | None:
    """The kernel's record of such a kernel; beside a fault of the GPU itself it is a consequence."""
    reported = [(event, known) for event in told(log, "xid") if (known := xid(int(event.fields["code"]))) is not None]
    own = [(event, known) for event, known in reported if known.diagnosis is None and str(known.code) in PROGRAM_XIDS]
    if not own or any(known.diagnosis is not None for _, known in reported):
        return None
    known = own[0][1]
    return Finding(
        summary=f"A program was stopped by its own fault on the GPU: {known.meaning} (Xid {known.code}).",
        evidence=cite(*(event for event, _ in own)),
        fix=(
            Fix(text="Look at that program's own output: it has the call that failed (CUDA_LAUNCH_BLOCKING=1 names it exactly)"),
            Fix(
                text="If it follows one GPU through different programs, test that GPU, as an administrator",
                command="dcgmi diag -r 3",
            ),
        ),
        severity=Severity.WARNING,
    )
