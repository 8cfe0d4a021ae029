"""The last output of a crashed child: native code's fatal message, if there is one, and the Python call stack."""

import re

from gpucheck.core.host import Child

CALLS = 3  # Python calls, innermost first
# Code that aborts a process prints a message first: TensorFlow and XLA (after the letter F, date and thread), C++, C, LLVM, the C
# library's allocator, the interpreter. The fault handler's own line only names the signal.
_FATAL = (
    r"(?:F\d{4,8} |\d{4}-\d\d-\d\d [\d:.]+: F )[^\]]*:\d+\] (?P<check>.+)"
    r"|(?P<said>terminate called after throwing.*|.*: Assertion [`'].*' failed\.?|LLVM ERROR: .+"
    r"|(?:free|malloc|realloc|munmap_chunk)\w*\(\): .+|double free or corruption.*|corrupted (?:size|double-linked).*"
    r"|Fatal Python error: (?!Aborted|Segmentation fault|Bus error|Floating.point|Illegal instruction).+)"
)
_CRASHED_THREAD = r"Current thread 0x\w+.*\(most recent call first\):$"
_CALL = r'  (?P<file>File ")(?:[^"]*/(?:site|dist)-packages/)?(?P<call>[^"]+", line \d+ in .+)'


def last_words(child: Child) -> tuple[str, ...]:
    """Return the last fatal line, then the calls; empty if the child did not crash or wrote nothing."""
    if not child.end().how.startswith(("killed by", "exited with status")):
        return ()
    lines = child.log().splitlines()
    return (*[line.strip() for line in lines if fatal(line)][-1:], *_calls(lines))


def fatal(line: str) -> str | None:
    """Return the message of a fatal line, without the date; None for another line."""
    match = re.match(_FATAL, line)
    return (match["check"] or match["said"]).strip() if match else None


def is_call(line: str) -> bool:
    """Whether this line of the last output is a call."""
    return line.startswith('File "')


def _calls(lines: list[str]) -> list[str]:
    """Return the calls of the crashed thread from Python's fault handler, without the site-packages folder."""
    begin = max((place for place, line in enumerate(lines, 1) if re.match(_CRASHED_THREAD, line)), default=len(lines))
    calls = []
    for line in lines[begin : begin + CALLS]:
        match = re.match(_CALL, line)
        if match is None:
            break
        calls.append(match["file"] + match["call"])
    return calls
