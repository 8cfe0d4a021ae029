"""Another package of the package index is named ``gpucheck``: both fill one folder, and removing it removes files of ours."""

import contextlib
import sys

import gpucheck
from gpucheck.core.system import integrity


def tell() -> bool:
    """Say on standard error that it is installed, and what to type; whether it has replaced or removed a file of ours."""
    broken = getattr(gpucheck, "DISTRIBUTION", None) is None
    if broken or integrity.is_beside("gpucheck"):
        state = (
            "has overwritten or removed files of this one" if broken else "lies in the same folder: removing it breaks this one"
        )
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed stream is None
            sys.stderr.write(
                f"gpucheck: another package named gpucheck {state} (keras-gpucheck). Type: {sys.executable} -m pip uninstall -y"
                " gpucheck keras-gpucheck; then install keras-gpucheck again\n"
            )
    return broken
