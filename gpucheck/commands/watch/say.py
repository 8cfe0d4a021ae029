"""Print a monitor's lines on standard error."""

import sys

from gpucheck.cli.screen import display_options
from gpucheck.core.reports.shared.terminal_text import TerminalText

COMMAND = "gpucheck: to fix it: "  # before a command to copy, in a line of its own


def say(text: str) -> None:
    """Print lines, on a terminal wrapped between words. A line with a command is not wrapped, so that a copy of it works."""
    stream = sys.stderr
    if stream is None:  # it was closed
        return
    if stream.isatty():
        out = TerminalText(**display_options("never", stream))
        for line in text.splitlines():
            if line.startswith(COMMAND) or not line:
                out.verbatim(line)
            else:
                out.add(line, hang=4)
        text = str(out).removesuffix("\n")
    print(text, file=stream, flush=True)


def say_below(text: str) -> None:
    """Print lines below a progress bar, which has not ended its line."""
    say("\n" + text)
