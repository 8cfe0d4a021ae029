"""A callback that monitors training: ``model.fit(..., callbacks=[gpucheck.keras.Watch()])``. Requires Keras 3."""

from gpucheck.commands.watch.callback import Watch
from gpucheck.commands.watch.judge import Event
from gpucheck.commands.watch.summary import Summary

__all__ = ["Event", "Summary", "Watch"]


def __dir__() -> list[str]:
    """Return the public names, for completion."""
    return __all__
