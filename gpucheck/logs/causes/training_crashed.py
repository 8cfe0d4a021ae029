"""What of a log is training-crashed."""

from gpucheck.model import Finding
from gpucheck.probes._last_words import fatal
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, told
from gpucheck.rules._words import short
from gpucheck.rules.training_failure.training_crashed import CALL, FIX

CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE")


# Lines that tell of the machine and of progress: beside them, a crash has no cause that is known.
CONTEXT = (
    *("killed", "traceback", "training-progress", "program-started", "uses-tpu", "mig-shown", "gpu-created", "gpu-found"),
    *("gpu-memory", "gpu-memory-used", "gpu-process", "keras-backend-other"),
    *("xla-device", "xla-compiled", "strategy-devices", "replicas", "driver-version", "driver-versions-agree"),
    *("cuda-toolkit", "container-host", "keras-backend", "package-installed", "architecture", "wsl-inside", "gpu-on-bus"),
    *("nccl-warning", "nccl-ready", "allocation-retried", "kernels-jit-compiled", "optional-library-missing", "cuda-diagnostics"),
)


def in_log(log: Log) -> Finding | None:
    """A crash in native code, in a log that names nothing that could explain it."""
    crashed = [event for event in told(log, "killed") if event.fields.get("signal") in CRASHES]
    if not crashed or any(event.kind not in CONTEXT for event in log.events):
        return None
    before = [event for event in log.suspects if event.line <= crashed[0].line and fatal(event.text)]
    why = fatal(before[-1].text) if before else crashed[0].text
    return Finding(
        summary=f"The program crashed in native code ({crashed[0].fields['signal']}): {short(why or '')}.",
        evidence=cite(*before[-1:], *crashed),
        fix=(CALL, *FIX),
    )
