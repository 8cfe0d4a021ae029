"""A progress line in a notebook."""

import importlib
import sys
from typing import Any


def runs() -> bool:
    """Whether this code runs in a notebook."""
    return "IPython" in sys.modules and hasattr(sys.modules["IPython"].get_ipython(), "kernel")


class Line:
    """A stream that shows its last line as an output of the cell; an exported notebook keeps only the last state of it."""

    encoding = "utf-8"
    _output: Any = None

    def write(self, text: str) -> int:
        """Show the text after the last carriage return."""
        display: Any = importlib.import_module("IPython.display").display
        shown = {"text/plain": text.rpartition("\r")[2].strip()}
        if self._output is None:
            self._output = display(shown, raw=True, display_id=True)
        else:
            self._output.update(shown, raw=True)
        return len(text)

    def flush(self) -> None:
        """Nothing is buffered."""

    def isatty(self) -> bool:
        """Return True: the line can be overwritten."""
        return True
