"""What of a log is ptxas-missing."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, told
from gpucheck.rules.gpu_not_detected._xla import INSTALL_TOOLS, WITHOUT_XLA


def in_log(log: Log) -> Finding | None:
    """XLA says that it can't run ptxas, or only one too old for its PTX. Mostly the driver compiles in its place, more slowly."""
    older = [event for event in told(log, "ptxas-too-old") if event.fields.get("needed")]
    missed = [event for event in log.events if event.kind == "ptxas-missing"] or older
    if not missed:
        return None
    if any(event.fields.get("fatal") == "yes" for event in told(log, "libdevice-missing")):
        return None  # the same tools, and it is libdevice that ended the program
    standing = told(log, "ptxas-missing")
    if missed is older:
        reads = older[0].fields
        what = f"ptxas, with which XLA compiles for the GPU, is too old: it reads PTX {reads['version']}, not {reads['needed']}."
    else:
        what = "ptxas, with which XLA compiles for the GPU, can't be run"
    fatal = [event for event in told(log, "traceback", "autotuner-failed", "killed") if event.line >= missed[0].line]
    return Finding(
        summary=what
        + ("" if missed is older else ": it is not found." if fatal or standing else "; the driver compiled in its place."),
        evidence=cite(*missed[:2], *fatal[:1]),
        fix=(
            INSTALL_TOOLS,
            Fix(
                text="Or name the folder of an installed toolkit, before Python starts",
                command='export PATH="/usr/local/cuda/bin:$PATH"',
            ),
            WITHOUT_XLA,
        ),
        severity=None if fatal else Severity.WARNING,
    )
