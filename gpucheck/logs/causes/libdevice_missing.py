"""What of a log is libdevice-missing."""

import re

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Event, Log
from gpucheck.rules._log import cite, told
from gpucheck.rules.gpu_not_detected._xla import INSTALL_TOOLS, WITHOUT_XLA


def in_log(log: Log) -> Finding | None:
    """XLA's word for it; its first one is only a warning, after which much still works."""
    missed = [event for event in told(log, "libdevice-missing") if not _of_ptxas(event, log)]
    if not missed:
        return None
    fatal = any(event.fields.get("fatal") == "yes" for event in missed)
    return Finding(
        summary="libdevice.10.bc, which XLA links into the kernels it compiles for the GPU, is not found.",
        evidence=cite(*missed),
        fix=(
            INSTALL_TOOLS,
            Fix(
                text="Or name an installed toolkit",
                command='export XLA_FLAGS="--xla_gpu_cuda_data_dir=/usr/local/cuda${XLA_FLAGS:+ $XLA_FLAGS}"',
            ),
            WITHOUT_XLA,
        ),
        severity=None if fatal else Severity.WARNING,
    )


def _of_ptxas(event: Event, log: Log) -> bool:
    """Whether the folders that a line goes through were searched for ptxas: its file, or the line before it, says so."""
    if "Searched for CUDA" not in event.text or "libdevice" in event.text:
        return False
    before = {missed.line + 1 for missed in log.events if missed.kind == "ptxas-missing"}
    return event.line in before or re.search(r"\b(?:nvptx|asm)_compiler\.cc\b", event.text) is not None
