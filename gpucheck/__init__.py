"""Check whether this machine trains Keras on every device it has; if not, find the root cause and the commands to fix it.

    report = gpucheck.check()                 # the report; level="quick" does not import TensorFlow; print(report) shows it
    gpucheck.require(gpus=1, memory_gib=16)   # raises gpucheck.NotReady, with the root cause, unless this machine is ready
    model.fit(..., callbacks=[gpucheck.keras.Watch()])    # what limits this training

Importing this package imports nothing heavy. docs/architecture.md describes its parts.
"""

from __future__ import annotations

TYPE_CHECKING = False  # a user's typing.py must not end `python -m gpucheck` before it can report the file
if TYPE_CHECKING:
    from typing import Any

    from gpucheck.api import NotReady, Result, check, require

__version__ = "0.1.0"
DISTRIBUTION = "keras-gpucheck"  # another package on the package index is named gpucheck, and also has this file
__all__ = ["NotReady", "Result", "__version__", "check", "require"]


def __getattr__(name: str) -> Any:
    """Import the functions when they are first used."""
    if name in ("NotReady", "Result", "check", "require"):
        from gpucheck import api

        return getattr(api, name)
    if name == "keras":  # imports Keras
        import importlib

        try:
            return importlib.import_module("gpucheck.keras")
        except ModuleNotFoundError as error:  # an AttributeError, so that help(gpucheck) shows the rest
            raise AttributeError(f"gpucheck.keras needs Keras: {error}") from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, for completion and ``help``, which load each: ``keras`` only once it is imported."""
    import sys

    return [*__all__, *(["keras"] if "gpucheck.keras" in sys.modules else [])]
