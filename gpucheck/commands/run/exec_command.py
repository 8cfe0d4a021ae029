"""Replace this process with another program, and leave no trace of gpucheck."""

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

NOT_FOUND, NOT_EXECUTABLE = 127, 126  # exit codes of shells (POSIX, Shell Command Language 2.8.2)
_IGNORED_BY_PYTHON = ("SIGPIPE", "SIGXFZ", "SIGXFSZ")
_TEXT_BYTES = 80  # bytes read to distinguish a shell script without #! from a program for another machine


class CannotStart(Exception):
    """The command can't be started; ``exit_code`` is that of a shell."""

    def __init__(self, exit_code: int, why: str) -> None:
        super().__init__(why)
        self.exit_code = exit_code


def locate(program: str, env: Mapping[str, str]) -> str:
    """Return the file that a shell would run for a command's first word.

    Args:
        program: a path, or a name to search on PATH.
        env: the environment with PATH.

    Raises:
        CannotStart: not found (127), or not executable (126).
    """
    folders = env.get("PATH", os.defpath) or os.curdir  # for a shell, an empty entry is the working directory
    found = shutil.which(program, path=folders)
    if found is not None and os.path.isfile(found):  # not a pipe
        return found
    candidates = [program] if "/" in program else [os.path.join(folder, program) for folder in folders.split(os.pathsep)]
    for path in filter(os.path.exists, candidates):
        if not os.path.isdir(path):
            raise CannotStart(NOT_EXECUTABLE, f"{program}: permission denied")
        if "/" in program:
            raise CannotStart(NOT_EXECUTABLE, f"{program}: is a directory")
    raise CannotStart(NOT_FOUND, f"{program}: {'no such file' if '/' in program else 'command not found'}")


def own_environment() -> dict[str, str]:
    """Return the environment with which this process was started, without the LC_CTYPE that Python sets (PEP 538)."""
    env = dict(os.environ)
    if "LC_CTYPE" in env:
        with contextlib.suppress(OSError), open("/proc/self/environ", "rb") as file:
            if not any(item.startswith(b"LC_CTYPE=") for item in file.read().split(b"\0")):
                del env["LC_CTYPE"]
    return env


def replace_process(path: str, argv: Sequence[str], env: Mapping[str, str]) -> NoReturn:
    """Replace this process with the program. On Windows, which can't do that, run it and exit with its exit code.

    Process id, working directory, standard streams and inherited file descriptors are kept; our own descriptors are closed on
    exec (PEP 446). All children must have ended, and the signals must have been released (``signals.release``) before.

    Args:
        path: the program's file, from ``locate``.
        argv: the command line, starting with the program's name.
        env: the program's whole environment.

    Raises:
        CannotStart: the system can't run the file. Ignored signals are already reset in this case.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a closed stream is None
            stream.flush()
    if sys.platform == "win32":
        os._exit(_run(path, argv, env))
    _stop_ignoring_signals()
    try:
        os.execve(path, list(argv), dict(env))  # noqa: S606 - deliberately without a shell
    except OSError as error:
        import errno

        if error.errno == errno.ENOEXEC and _is_text(path):
            with contextlib.suppress(OSError):  # execvp(3) and shells also do this for a script without #!
                os.execve("/bin/sh", ["sh", path, *argv[1:]], dict(env))  # noqa: S606
        code = NOT_FOUND if error.errno == errno.ENOENT else NOT_EXECUTABLE  # a script's interpreter is missing
        raise CannotStart(code, f"{argv[0]}: {(error.strerror or str(error)).lower()}") from None


def reap() -> None:
    """As process 1, reap all ended processes: no other process will, and the program expects no children."""
    if os.getpid() != 1:
        return
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _stop_ignoring_signals() -> None:
    """Restore the default handlers of the signals that Python ignores: exec(2) would keep them ignored."""
    for name in _IGNORED_BY_PYTHON:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _is_text(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"\0" not in file.read(_TEXT_BYTES)
    except OSError:
        return False


def _run(path: str, argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the program on Windows. Console interrupts also reach it, and it decides how to react."""
    import subprocess

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.Popen(list(argv), executable=path, env=dict(env)).wait()
    except OSError as error:
        raise CannotStart(NOT_EXECUTABLE, f"{argv[0]}: {error.strerror or error}") from None
