"""Another package of the package index is named ``gpucheck``: both fill one folder, and removing it removes files of ours."""

import contextlib
import os
import sys

import gpucheck

_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # which holds the folder gpucheck


def tell() -> bool:
    """Say on standard error that it is installed, and what to type; whether it has replaced or removed a file of ours."""
    broken = getattr(gpucheck, "DISTRIBUTION", None) is None
    if broken or _is_installed():
        state = (
            "has overwritten or removed files of this one" if broken else "lies in the same folder: removing it breaks this one"
        )
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed stream is None
            sys.stderr.write(
                f"gpucheck: another package named gpucheck {state} (keras-gpucheck). Type: {sys.executable} -m pip uninstall -y"
                " gpucheck keras-gpucheck; then install keras-gpucheck again\n"
            )
    return broken


def _is_installed() -> bool:
    try:
        names = os.listdir(_FOLDER)
    except OSError:
        return False
    return any(name.startswith("gpucheck-") and name.endswith(".dist-info") for name in names)
