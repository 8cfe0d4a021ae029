"""What of a log is library-corrupt."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite
from gpucheck.rules._start import unserved
from gpucheck.rules._words import listing


def in_log(log: Log) -> Finding | None:
    """The loader's words for a file that is cut off, or made for another machine."""
    told = unserved(log, "library-corrupt")
    if not told:
        return None
    fields = told[0].fields
    state = fields.get("error", "").rpartition(": ")[2] or "damaged"
    names = list(dict.fromkeys(event.fields.get("soname", "a library") for event in told))
    return Finding(
        summary=f"{listing(names)} can't be loaded: {state}.",
        evidence=cite(*told),
        fix=(
            Fix(text="See whether the disk is full", command="df -h"),
            Fix(
                text="Lay the files of the CUDA libraries and TensorFlow down again",
                command='python -m pip install --force-reinstall --no-cache-dir "tensorflow[and-cuda]"',
            ),
            Fix(text="If it lies outside site-packages, take its folder out of LD_LIBRARY_PATH"),
        ),
    )
