"""Stop a program at a function, as a debugger's breakpoint does: nothing in the program is replaced."""

import sys
import threading


def stop_at(place, action):
    """Call ``action`` at the start of each call of a function or method, in every thread.

    Args:
        place: its module and its name: "package.module.function".
        action: called without arguments; it may block, or raise a signal.
    """
    module, _, function = place.rpartition(".")

    def stop(frame, event, argument):
        if event == "call" and frame.f_code.co_name == function and frame.f_globals.get("__name__") == module:
            action()

    threading.setprofile(stop)
    sys.setprofile(stop)
