"""The state of a fit, from the stack of its thread: whether it still runs, and what it reads.

Keras does not report the end of a fit that an exception ends.
"""

import atexit
import inspect
import os
import sys
import threading
import weakref
from types import FrameType
from typing import Any, Literal

Data = Literal["dataset", "PyDataset", "generator", "arrays", "DataLoader"]


_SUSPENDED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR  # leave the stack before they end


class Running:
    """The call of ``fit`` that calls the callbacks. It is held until it is over."""

    def __init__(self, *, own_loop: bool = False) -> None:
        """Find the call, in the training thread; ``own_loop``: there is no call, and the loop reports its own end."""
        self._thread = threading.get_ident()
        frame: FrameType | None = None if own_loop else sys._getframe()
        while frame is not None and (frame.f_code.co_name != "fit" or frame.f_code.co_flags & _SUSPENDED):
            frame = frame.f_back
        self._fit = frame
        self.known = frame is not None
        self.data = None if frame is None else _kind(frame.f_locals.get("x"))

    def __bool__(self) -> bool:
        """Whether the call is still on the stack of its thread; True if it was not found."""
        if not self.known or self._is_on_stack() or self._is_on_stack():  # a generator suspended in between hides the rest
            return True
        self.release()
        return False

    def release(self) -> None:
        """Release the call, which is about to end: its variables may be large, and threads of its data stop only with them."""
        self._fit = None

    def _is_on_stack(self) -> bool:
        fit = self._fit
        frame = None if fit is None else sys._current_frames().get(self._thread)
        while frame is not None and frame is not fit:
            frame = frame.f_back
        return frame is not None


def _kind(data: Any) -> Data | None:
    """Return the kind of the data of a fit; None: unknown."""
    kinds = {kind.__name__ for kind in type(data).__mro__}
    if "PyDataset" in kinds:
        return "PyDataset"
    if "DatasetV2" in kinds or "DistributedDatasetInterface" in kinds:
        return "dataset"
    if "DataLoader" in kinds:
        return "DataLoader"
    if hasattr(data, "__next__"):
        return "generator"
    return "arrays" if hasattr(data, "shape") or isinstance(data, list | tuple | dict) else None


ending = threading.RLock()  # held while a fit is summarized; one for all, because a Watch must be copyable
unfinished: weakref.WeakSet[Any] = weakref.WeakSet()  # each Watch whose fit an exception may have ended
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=unfinished.clear)


@atexit.register
def _sum_up() -> None:
    """Summarize the fits that an exception has ended, if it also ends the program."""
    for watch in list(unfinished):
        _ = watch.summary  # summarizes a fit that is over
