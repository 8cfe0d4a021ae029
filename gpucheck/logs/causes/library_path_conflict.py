"""What of a log is library-path-conflict."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._loading import loading
from gpucheck.rules._log import cite


def in_log(log: Log) -> Finding | None:
    """A symbol or a version that the caller was built with is not in the copy that was loaded."""
    found = loading(log)
    if found is None or found.code != "library-path-conflict":
        return None
    fields = found.events[0].fields
    wanted = fields.get("symbol") or fields.get("version") or "what it was built with"
    copy = fields.get("library") or "the copy of the CUDA library that is loaded"
    return Finding(
        summary=f"{fields.get('file') or 'A library'} does not find {wanted} in {copy}: another copy is put before the one that"
        " belongs to it.",
        evidence=cite(*found.events),
        fix=(
            Fix(text="Start without the folders that LD_LIBRARY_PATH puts first", command="unset LD_LIBRARY_PATH"),
            Fix(text="See which NVIDIA packages do not fit together", command="python -m pip check"),
            Fix(text="Keep TensorFlow, PyTorch and JAX in virtual environments of their own: each pins its own CUDA libraries"),
        ),
        severity=Severity.ERROR,
    )
