"""The command line: parse, call, print, exit. The only package that knows click."""

import time

STARTED = time.monotonic()  # before the imports: they count against --timeout too

import gc  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from typing import Any, NoReturn  # noqa: E402

UNKNOWN = 3  # the exit code where no verdict could be reached


def __getattr__(name: str) -> Any:
    """Import the commands when they are first used: signals are handled by then."""
    if name == "cli":
        from gpucheck.cli.group import cli

        return cli
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> NoReturn:
    """Entry point. Leaves without interpreter teardown: a probe that waits for a file system must not hold up the exit code.

    Whatever goes wrong in here is no verdict, and never exit code 1, which means a fault. Every import is in here for that.
    """
    gc.disable()  # a short run with little garbage
    code: Any
    try:
        code = _run()
    except SystemExit as error:
        code = error.code
    except Exception as error:
        code = _no_verdict(error)
    try:
        if code == UNKNOWN:
            from gpucheck.core.system.shadowing import report_shadowing_file

            report_shadowing_file(SystemExit())  # a probe that failed over a user's file kept the exception to itself
        if "gpucheck.core.system.write" in sys.modules:
            sys.modules["gpucheck.core.system.write"].sweep()
    except ImportError:  # said by then
        pass
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib may be what is missing
            stream.flush()
        except (OSError, ValueError, AttributeError):  # a closed stream is None
            pass
    os._exit(code if isinstance(code, int) else UNKNOWN if code else 0)


def _run() -> Any:
    from gpucheck.cli import signals

    signals.catch()
    import gpucheck.core.system.integrity  # in this form, a missing file is named in the exception
    import gpucheck.core.system.ulimits
    from gpucheck.cli import namesake
    from gpucheck.cli.time_limit import TimeLimit

    limit = TimeLimit(STARTED)
    limit.enforce()
    gpucheck.core.system.ulimits.widen()
    if namesake.tell():
        return UNKNOWN
    gpucheck.core.system.integrity.verify()
    from gpucheck.cli.group import start

    return start(limit)


def _no_verdict(error: Exception) -> int:
    """Say why, and return the exit code; what says it may be missing itself."""
    try:
        from gpucheck.cli import failure

        failure.report(error)
    except Exception:
        text = f"gpucheck: no verdict: this installation of gpucheck is damaged: {type(error).__name__}: {error}\n"
        os.write(2, text.encode("utf-8", "backslashreplace"))
    try:
        from gpucheck.cli.exit_styles import unknown_code

        return unknown_code(sys.argv[1:])
    except Exception:
        return UNKNOWN
