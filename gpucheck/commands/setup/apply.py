"""Create the environment of a choice in a new folder, and verify it by training with gpucheck.

The folder must be new. An error, the time limit or a signal before the end removes it.
"""

import contextlib
import errno
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from gpucheck.commands.setup.files import measured
from gpucheck.commands.setup.steps import LOG_BYTES, Failed, Screen, run, running
from gpucheck.core.compat import frameworks, versions
from gpucheck.core.host import Host
from gpucheck.core.host.child import PACKAGE
from gpucheck.core.host.process import Process
from gpucheck.core.model import Report, Verdict
from gpucheck.core.repairs.install import install
from gpucheck.core.solver import commands
from gpucheck.core.solver.answer import Answer, Choice
from gpucheck.core.solver.machine import Machine
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout
from gpucheck.core.system.read import INVALID_JSON
from gpucheck.core.system.shells import applied

REMOVE_SECONDS = 45.0
MB = 10**6
# Default size if unmeasured, by whether it is for the CPU, without CUDA libraries.
ROOM_BYTES = {True: 3000 * MB, False: 9000 * MB}

VERIFY_SECONDS = 300.0
LEAST_SECONDS = 20.0
RESERVE_SECONDS = 5.0  # for the check's start and end
# Because steps start in the root folder, `python -m gpucheck` would not find a checkout that is not installed.
_START = "import sys; sys.path.append(sys.argv.pop(1)); from gpucheck.cli import main; main()"


class Refused(Exception):
    """The installation did not start; the message is one line."""

    def __init__(self, message: str, *, usage: bool = False) -> None:
        """Set the message; ``usage``: the given folder is wrong, not the machine."""
        super().__init__(message)
        self.usage = usage


class Verification(NamedTuple):
    """The result of gpucheck on the environment."""

    good: bool
    text: str


def apply(answer: Answer, folder: str, host: Host, screen: Screen, deadline: float) -> Verification:
    """Create the best choice's environment and verify it.

    Args:
        answer: an answer with at least one choice.
        folder: folder of the environment; it must not exist, but its parent must.
        host: this machine.
        screen: for progress output.
        deadline: ``time.monotonic()`` by which everything is done.

    Raises:
        Refused: nothing was changed.
        Failed: the installation failed and was removed.
    """
    choice = answer.choices[0]
    path = os.path.abspath(os.path.expanduser(folder))
    steps = _steps(answer, choice, path, host)
    _create_folder(path, choice, answer.machine, host)
    try:
        for number, (title, argv, index) in enumerate(steps, 1):
            screen.say(f"[{number}/{len(steps) + 1}] {title}")
            try:
                run(argv, host.env, screen, deadline, index)
            except Failed as error:
                raise Failed("\n  ".join([str(error), *_alternatives(choice, index)])) if error.unreachable else error from None
        assignments = tuple(replace(one, value=one.value.replace("{environment}", path)) for one in choice.assignments)
        if assignments:
            install(assignments, path, "venv")
        screen.say(f"[{len(steps) + 1}/{len(steps) + 1}] Checking it: gpucheck trains in it")
        inside = commands.environment_python(path, answer.machine.system)
        return verify(choice, inside, dict(applied(assignments, host.env)), screen, deadline)
    except BaseException:
        _remove(path, screen)
        raise


def _alternatives(choice: Choice, index: str | None) -> Iterator[str]:
    """Yield the alternatives if a package index is unreachable."""
    yield "behind a proxy: run export HTTPS_PROXY=http://HOST:PORT, then the same command again"
    if index is None:
        yield "with a mirror: run export PIP_INDEX_URL=URL UV_DEFAULT_INDEX=URL, then the same command again"
        return
    yield f"with a mirror: run the commands of `gpucheck setup`, with its URL instead of {index}"
    instead = frameworks.ON_PYPI.get(index.rpartition("/")[2])
    if instead is not None:
        big = "for CUDA 13, which also trains on the CPU, and is several GB"
        build = big if commands.trains_on_cpu(choice) else "for the same GPUs"
        yield f"or PyPI's build {build}: the same commands with {instead}"
        yield f"  and without --index-url {index}"


def _steps(answer: Answer, choice: Choice, path: str, host: Host) -> list[tuple[str, list[str], str | None]]:
    """Return the title, the command line and the package index (None: the default) of each step."""
    if choice.source == "conda":
        typed = "; ".join(commands.make(choice, answer.machine))
        raise Refused(f"conda provides the CUDA of this TensorFlow, and --apply does not use conda: {typed}")
    if choice.source == "image":
        raise Refused(
            f"--apply can't create an environment: this machine needs NVIDIA's image: {commands.make(choice, answer.machine)[0]}"
        )
    minor = versions.minor(choice.python.version)
    fetched = answer.machine.lacks(choice.python)
    uv = host.which("uv")
    if fetched and uv is None:
        raise Refused(f"Python {minor} is not installed, and neither is uv, which could download it: https://docs.astral.sh/uv")
    if choice.python.has_venv is False and uv is None:
        raise Refused(f"Python {minor} cannot create environments here: install its package python{minor}-venv first, or uv")
    # Steps start in another folder, in which a relative path (from a relative folder in PATH) would be wrong.
    uv = os.path.abspath(uv) if uv else None
    inside = commands.environment_python(path, answer.machine.system)
    if uv and fetched:
        make = [uv, "venv", "--python-preference", "only-managed", "--python", minor, path]
    else:
        # Not `uv venv`, which starts this Python with the .pth files of its packages. uv needs no pip in the environment.
        python = os.path.abspath(choice.python.executable) if choice.python.executable else minor
        make = [python, "-I", "-S", "-m", "venv", *(["--without-pip"] if uv else []), path]
    steps: list[tuple[str, list[str], str | None]] = [
        (f"Creating an environment with Python {choice.python.version} in {path}", make, None)
    ]
    own_pip = [inside, "-I", "-m", "pip", "install", "--no-input", "--progress-bar=off"]
    pip = [uv, "pip", "install", "--python", inside] if uv else own_pip
    for packages, index in commands.installs(choice):
        steps.append((f"Installing {', '.join(packages)}", [*pip, *packages, *(["--index-url", index] if index else [])], index))
    return steps


def _create_folder(path: str, choice: Choice, machine: Machine, host: Host) -> None:
    """Create the new folder."""
    parent = os.path.dirname(path)
    try:
        room = with_timeout(FILE_SECONDS, host.disk, parent)
        size = measured(choice, machine)
        needed = (size.download_mb + size.disk_mb) * MB if size else ROOM_BYTES[commands.trains_on_cpu(choice)]
        if room is not None and room.free_bytes < needed:
            free = f"{room.free_bytes / 1e9:.1f} GB are free in {parent}"
            raise Refused(f"{free}, but the download and the environment need about {needed / 1e9:.1f} GB")
        with_timeout(FILE_SECONDS, os.mkdir, path)
    except NoResponse as error:
        raise Refused(f"cannot use {parent}: {error.strerror}", usage=True) from None
    except FileExistsError:
        raise Refused(f"{path} exists; an environment is only created in a new folder", usage=True) from None
    except (OSError, ValueError) as error:
        wrong = not isinstance(error, OSError) or error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
        raise Refused(f"cannot create {path}: {getattr(error, 'strerror', None) or error}", usage=wrong) from None


def _remove(path: str, screen: Screen) -> None:
    """Remove the folder; signals must not interrupt this."""
    with screen.uninterruptible():
        with contextlib.suppress(NoResponse):
            with_timeout(REMOVE_SECONDS, shutil.rmtree, path, True)
        if os.path.lexists(path):
            screen.say(f"gpucheck: {path} could not be removed")


def verify(choice: Choice, python: str, env: dict[str, str], screen: Screen, deadline: float) -> Verification:
    """Run gpucheck on the environment, including training.

    Args:
        choice: the installed choice.
        python: the environment's interpreter.
        env: variables, including those that the choice requires.
        screen: for progress output.
        deadline: ``time.monotonic()`` by which the check must end.

    Raises:
        Failed: no time was left.
    """
    left = deadline - time.monotonic()
    if left < LEAST_SECONDS:
        raise Failed("not enough time was left to verify the environment (--timeout); it was removed")
    seconds = min(VERIFY_SECONDS, left - RESERVE_SECONDS)
    argv = [sys.executable, "-c", _START, os.path.dirname(PACKAGE), "--python", python]
    argv += ["--format", "json", "--timeout", f"{seconds:.0f}"]
    argv += [] if choice.backend == "tensorflow" else ["--backend", choice.backend]
    if commands.trains_on_cpu(choice):
        argv.append("--allow-cpu")
        env = {**env, "CUDA_VISIBLE_DEVICES": "-1"}  # hide a GPU that the user does not want to use
    with running(argv, env) as process:
        process.late = not process.wait(deadline, _ticking(screen))
        text = process.out.text(LOG_BYTES)
    return _verification(text, process)


def _ticking(screen: Screen) -> Callable[[], bool]:
    started = time.monotonic()

    def tick() -> bool:
        if screen.progress is not None:
            screen.progress(f"      {time.monotonic() - started:.0f} s")
        return False

    return tick


def _verification(text: str, process: Process) -> Verification:
    """Return the verdict of the report, with the trained jobs, or the problems."""
    try:
        report = msgspec.json.decode(text, type=Report)
    except INVALID_JSON:
        return Verification(False, f"gpucheck {process.how()} without a report")
    if process.returncode == 0 and report.verdict in (Verdict.PASS, Verdict.WARN):
        passed = (run for run in report.training if run.status == "passed")
        return Verification(True, "; ".join(f"{run.strategy} trained on {', '.join(run.devices)}" for run in passed))
    roots = (f"{finding.code}: {finding.summary}" for finding in report.findings if finding.explained_by is None)
    return Verification(False, "; ".join([*roots, *report.unknown_because]) or f"gpucheck {process.how()}")
