"""The command line: parse, call, print, exit. The only package that knows click."""

import time

STARTED = time.monotonic()  # before the imports: they count against --timeout too

import contextlib  # noqa: E402
import gc  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from typing import Any, NoReturn  # noqa: E402

from gpucheck import ulimits  # noqa: E402
from gpucheck.cli import namesake, signals, watchdog  # noqa: E402
from gpucheck.shadowing import report_shadowing_file  # noqa: E402

UNKNOWN = 3  # the exit code where no verdict could be reached


def __getattr__(name: str) -> Any:
    """Import the commands when they are first used: signals are handled by then."""
    if name == "cli":
        from gpucheck.cli.group import cli

        return cli
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> NoReturn:
    """Entry point. Leaves without interpreter teardown: a probe that waits for a file system must not hold up the exit code."""
    gc.disable()  # a short run with little garbage
    try:
        signals.catch()
        watchdog.start()
        ulimits.widen()
        if namesake.tell():
            raise SystemExit(UNKNOWN)
        from gpucheck.cli.group import start

        code: Any = start()
    except SystemExit as error:
        code = error.code
    except Exception as error:
        short = ulimits.shortage(error)
        if short is not None:
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.stderr.write(f"gpucheck: {short}\n")
        elif not report_shadowing_file(error):
            raise
        code = UNKNOWN
    if code == UNKNOWN:
        report_shadowing_file(SystemExit())  # a probe that failed over a user's file kept the exception to itself
    if "gpucheck.files.write" in sys.modules:
        sys.modules["gpucheck.files.write"].sweep()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed stream is None
            stream.flush()
    os._exit(code if isinstance(code, int) else 1 if code else 0)
