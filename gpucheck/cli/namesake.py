"""Detect the other package named ``gpucheck`` on PyPI: both install into one folder, so removing it removes our files."""

import contextlib
import sys

import gpucheck
from gpucheck.core.system import integrity


def report() -> bool:
    """Print a warning and the fix on standard error if it is installed; return whether it replaced or removed our files."""
    broken = getattr(gpucheck, "DISTRIBUTION", None) is None
    if broken or integrity.is_beside("gpucheck"):
        state = (
            "has overwritten or removed files of this one"
            if broken
            else "is installed in the same folder: removing it breaks this one"
        )
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed stream is None
            sys.stderr.write(
                f"gpucheck: another package named gpucheck {state} (keras-gpucheck). Type: {sys.executable} -m pip uninstall -y"
                " gpucheck keras-gpucheck; then install this one again\n"
            )
    return broken
