"""The command line: parse, call, print, exit. Only this package and ``gpucheck/commands`` use click."""

from __future__ import annotations

import time

STARTED = time.monotonic()  # before the imports, which count towards --timeout

import gc  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402

TYPE_CHECKING = False  # as in typing, which a user's file may shadow
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

INTERRUPTED = 130  # exit code after Ctrl-C
UNKNOWN = 3  # exit code: no verdict could be reached


def __getattr__(name: str) -> Any:
    """Import the commands on first use, after the signal handlers are installed."""
    if name == "cli":
        from gpucheck.cli.group import cli

        return cli
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> NoReturn:
    """Run the command line, and exit."""
    run_and_exit(_run)


def run_and_exit(run: Callable[[], Any]) -> NoReturn:
    """Run a function, and exit without interpreter teardown: a probe that waits for a file system must not delay the exit.

    An error in here means no verdict, never exit code 1, which means a fault. Therefore all imports are inside.

    Args:
        run: returns the exit code, or raises SystemExit.
    """
    gc.disable()  # the run is short and creates little garbage
    code: Any
    try:
        code = run()
    except SystemExit as error:
        code = _no_verdict(error) if _of_a_users_file(error) else error.code
        if code == INTERRUPTED and sys.stderr is not None:
            os.write(2, b"gpucheck: interrupted\n")
    except Exception as error:
        code = _no_verdict(error)
    try:
        if code == UNKNOWN:
            from gpucheck.core.system.shadowing import report_shadowing_file

            report_shadowing_file(SystemExit())  # a probe that failed because of a user's file has not raised an exception
        if "gpucheck.core.system.write" in sys.modules:
            sys.modules["gpucheck.core.system.write"].sweep()
    except (Exception, SystemExit):  # already reported
        pass
    for stream in (sys.stdout, sys.stderr):
        try:  # noqa: SIM105 - contextlib may be the missing module
            stream.flush()
        except (OSError, ValueError, AttributeError):  # a closed stream is None
            pass
    os._exit(code if isinstance(code, int) else UNKNOWN if code else 0)


def _run() -> Any:
    from gpucheck.cli import signals

    signals.catch()
    import gpucheck.core.system.integrity  # in this form, the exception reports a missing file
    import gpucheck.core.system.ulimits
    from gpucheck.cli.time_limit import TimeLimit

    gpucheck.core.system.ulimits.save_address_space()  # before the first thread
    limit = TimeLimit(STARTED)
    limit.enforce()
    gpucheck.core.system.ulimits.raise_open_files()
    if gpucheck.core.system.integrity.report_namesake():
        return UNKNOWN
    gpucheck.core.system.integrity.verify()
    from gpucheck.cli.group import start

    return start(limit)


def _of_a_users_file(error: SystemExit) -> bool:
    """Whether a user's file that shadows a module ended the program, as a script does when it is imported by accident."""
    try:
        from gpucheck.core.system.shadowing import raised_in_shadowing_file

        return raised_in_shadowing_file(error)
    except (Exception, SystemExit):  # a required module is missing, which is reported elsewhere
        return False


def _no_verdict(error: BaseException) -> int:
    """Report the error and return the exit code; the module that reports it may itself be missing."""
    try:
        from gpucheck.cli import failure

        failure.report(error)
    except (Exception, SystemExit):
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        file = place.tb_frame.f_code.co_filename if place is not None else ""
        text = f"gpucheck: no verdict: this installation of gpucheck is damaged: {file}: {type(error).__name__}: {error}\n"
        os.write(2, text.encode("utf-8", "backslashreplace"))
    try:
        from gpucheck.cli.exit_styles import unknown_code

        return unknown_code(sys.argv[1:])
    except (Exception, SystemExit):
        return UNKNOWN
