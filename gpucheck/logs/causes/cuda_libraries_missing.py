"""What of a log is cuda-libraries-missing."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._loading import INSTALL, loading
from gpucheck.rules._log import cite, fitting
from gpucheck.rules._words import listing


def in_log(log: Log) -> Finding | None:
    """The loader's or TensorFlow's word for it. The CUDA runtime alone is missed on every machine without a GPU, too."""
    found = loading(log)
    if found is None or found.code != "cuda-libraries-missing":
        return None
    named = f": {listing(found.sonames)}" if found.sonames else ""
    return Finding(
        summary=f"CUDA libraries that this program opens are not found{named}.",
        evidence=cite(*found.events),
        fix=fitting(
            log,
            INSTALL,
            Fix(
                text="See whether the loader knows them; if they lie in a folder of their own, name it in LD_LIBRARY_PATH",
                command="ldconfig -p | grep -E 'libcu(dart|blas|fft|solver|sparse|dnn)'",
            ),
            Fix(text="PyTorch: install it with the libraries it brings", command="python -m pip install --force-reinstall torch"),
        ),
        severity=None if found.failed or len(found.sonames) > 1 else Severity.WARNING,
    )
