"""The command ``setup``: print what to install on this machine; with --apply, create and verify the environment."""

import re
from typing import Any

import click
from msgspec.structs import replace

from gpucheck.cli import installation, signals
from gpucheck.cli.parameters import SECONDS, Command
from gpucheck.cli.request import this_machine
from gpucheck.cli.screen import display_options, progress_line, progress_text, say, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.setup import apply, describe, files, render, steps
from gpucheck.commands.setup.combined_frameworks import solve_together
from gpucheck.commands.setup.full_answer import solve
from gpucheck.commands.setup.other_machine import read as read_other_machine
from gpucheck.commands.setup.read import inspect_python, read
from gpucheck.commands.setup.this_machine import Here, look
from gpucheck.core.compat import versions
from gpucheck.core.compat.keras import OTHERS, TRAINING_BACKENDS
from gpucheck.core.compat.tensorflow import RELEASES
from gpucheck.core.host import Host
from gpucheck.core.model import ExitCode, Level, Request
from gpucheck.core.solver.answer import Answer
from gpucheck.core.solver.machine import Machine, Python, Requirements
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout
from gpucheck.core.system.shells import word

READ_SECONDS, APPLY_SECONDS = 60.0, 3600.0
SWEEP_SECONDS = 60.0  # to remove gigabytes of an unfinished environment
DEFAULT_FOLDER = "tensorflow-env"
EXAMPLES = """\b
Examples:
  gpucheck setup                                     print what works on this machine, and the commands
  gpucheck setup --cpu --apply ~/tensorflow-env      create the environment, and train in it
  gpucheck setup --for "RTX 4090, driver 535, WSL2, Python 3.12"
  gpucheck setup --for "gpu=8.0 driver=470.57 python=3.11 system=rhel8"
  gpucheck setup --tensorflow ">=2.16,<2.20"
  gpucheck setup --backend jax --format json
  gpucheck setup --format dockerfile > Dockerfile
"""


class Specifier(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A TensorFlow version, or a version specifier as for pip, that matches a release in the table."""

    name = "spec"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a specifier; '2.19' means any 2.19."""
        text = str(value).strip()
        if re.fullmatch(r"[0-9]+(\.[0-9]+)*", text):
            text = f"=={text}.*" if text.count(".") < 2 else f"=={text}"
        if not text or versions.satisfies("2.0.0", text) is None:
            self.fail(f"{value!r} is not a version or a version specifier (expected e.g. 2.19 or '>=2.16,<2.20')", param, ctx)
        patches = [release.latest_patch for release in RELEASES.values()]
        if not any(versions.satisfies(patch, text) for patch in patches):
            self.fail(f"no known TensorFlow release matches {text}: {', '.join(patches)}", param, ctx)
        return text


class Elsewhere(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A description of another machine, or a file about it."""

    name = "machine"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Machine:
        """Return the machine; fail for an unknown word."""
        try:
            return read_other_machine(str(value).strip())
        except describe.Unknown as error:
            self.fail(f"{error}\nFor example: --for {describe.EXAMPLE}, --for report.json, nvidia-smi | ... --for -", param, ctx)


@click.command(cls=Command, epilog=EXAMPLES)
@click.option("--tensorflow", type=Specifier(), metavar="SPEC", help="Consider only these releases: 2.19, or '>=2.16,<2.20'.")
@click.option(
    "--backend",
    type=click.Choice(TRAINING_BACKENDS),
    default="tensorflow",
    show_default=True,
    help="Keras backend to install.",
)
@click.option(
    "--with",
    "others",
    type=click.Choice(OTHERS),
    multiple=True,
    help="Also install this framework in the same environment. May be repeated.",
)
@click.option("--python", metavar="PATH|VERSION", help="Consider only this Python: a version (3.12) or an interpreter.")
@click.option("--cpu", is_flag=True, help="Don't use the GPU.")
@click.option(
    "--for",
    "elsewhere",
    type=Elsewhere(),
    metavar="MACHINE",
    help="Answer for another machine: a description, or a file with a JSON report or the output of nvidia-smi (- for standard"
    " input).",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["terminal", "json", "requirements", "pyproject", "dockerfile", "conda", "pixi"]),
    default="terminal",
    show_default=True,
    help="terminal: for people; json: for programs; or a file for pip, uv and Poetry, Docker, conda or pixi.",
)
@click.option(
    "--apply",
    "folder",
    is_flag=False,
    flag_value=DEFAULT_FOLDER,
    metavar="[DIR]",
    help=f"Create the environment in a new folder (default: {DEFAULT_FOLDER}), and train in it to verify it.",
)
@click.option("--timeout", type=SECONDS, default=None, help="Time limit for the whole command.  [default: 60; with --apply 3600]")
@click.pass_obj
def setup(
    limit: TimeLimit,
    /,
    tensorflow: str | None,
    backend: str,
    others: tuple[str, ...],
    python: str | None,
    cpu: bool,
    elsewhere: Machine | None,
    style: str,
    folder: str | None,
    timeout: float | None,
) -> None:
    """Print what to install on this machine: the newest combination that works here, and why each newer one does not.

    Nothing is changed without --apply, which creates a new folder and changes nothing else. Exit codes: 0 a combination
    works (with --apply: it was installed, and training in it passed), 1 none works (or the installation failed), 2 wrong usage,
    3 no verdict: the machine could not be checked in time, or --apply could not start (no disk space, a folder that is not
    writable, a Python without venv).
    """
    _refuse(tensorflow, backend, others, elsewhere, style, folder)
    seconds = timeout or (READ_SECONDS if folder is None else APPLY_SECONDS)
    limit.set(seconds, grace_seconds=SWEEP_SECONDS if folder is not None else 0.0)
    request = Request(level=Level.QUICK, timeout_seconds=seconds, python=installation.active() if elsewhere is None else None)
    with this_machine(request, limit.started, option="") as host:  # --python is for the new environment
        answer, here = _answer(host, Requirements(tensorflow=tensorflow, backend=backend, cpu=cpu), others, python, elsewhere)
        if folder is None:
            _print(answer, style, here)
        else:
            _apply(answer, here, folder, host, limit.end)


def _refuse(
    tensorflow: str | None, backend: str, others: tuple[str, ...], elsewhere: Machine | None, style: str, folder: str | None
) -> None:
    if tensorflow is not None and backend != "tensorflow":
        raise click.UsageError(f"--tensorflow cannot be used with --backend {backend}, which does not use TensorFlow")
    if others and backend != "tensorflow":
        raise click.UsageError(f"--with adds a framework to TensorFlow; omit --backend {backend}")
    if folder is not None and elsewhere is not None:
        raise click.UsageError("--apply installs on this machine, and can't be combined with --for, which is for another one")
    if folder is not None and style != "terminal":
        raise click.UsageError(f"--apply installs the environment, and can't be combined with --format {style}, which prints it")


def _answer(
    host: Host, requirements: Requirements, others: tuple[str, ...], python: str | None, elsewhere: Machine | None
) -> tuple[Answer, Here]:
    machine, packages = elsewhere, None
    if machine is None:
        with progress_line(host) as progress:
            machine, packages = read(host, progress)
        if host.remaining() <= 0:
            say("gpucheck: no verdict: the time limit (--timeout) was reached before the machine was examined")
            raise SystemExit(ExitCode.UNKNOWN)
    if python is not None:
        requirements = replace(requirements, python=_python(host, python, machine, here=elsewhere is None))
    answer = solve_together(machine, requirements, others) if others else solve(machine, requirements)
    excluding = _excluding_options(machine, requirements, python) if answer.best is None else None
    if elsewhere is not None:
        return answer, Here(excluding=excluding)
    options = (
        *(("--with", name) for name in others),
        ("--tensorflow", requirements.tensorflow),
        ("--backend", None if requirements.backend == "tensorflow" else requirements.backend),
        ("--python", python),
    )
    given = [part for name, value in options if value is not None for part in (name, word(value))]
    return answer, look(host, answer, requirements, packages, (*given, *(["--cpu"] if requirements.cpu else [])), excluding)


def _excluding_options(machine: Machine, requirements: Requirements, python: str | None) -> str | None:
    """Return the options that exclude every combination; None if nothing works without them either."""
    options = [f"--python {python}"] if python is not None else []
    options += [f"--tensorflow {word(requirements.tensorflow)}"] if requirements.tensorflow is not None else []
    free = replace(requirements, tensorflow=None, python=None)
    return " and ".join(options) if options and solve(machine, free).choices else None


def _python(host: Host, text: str, machine: Machine, *, here: bool) -> Python:
    """Return the Python of --python: a version, or an interpreter of this machine."""
    if re.fullmatch(r"3\.[0-9]{1,2}(\.[0-9]{1,2})?", text):
        same = (python for python in machine.pythons or () if (python.version + ".").startswith(text + "."))
        return next(same, Python(version=text))
    try:
        program = with_timeout(FILE_SECONDS, host.which, text)
    except NoResponse as error:
        raise click.UsageError(f"--python {text}: {error.strerror}") from None
    if not here or program is None:
        raise click.UsageError(f"--python {text}: neither a Python 3 version (e.g. 3.12) nor an executable program")
    python = inspect_python(host, program)
    if python is None:
        raise click.UsageError(f"--python {text} is not a 64-bit CPython, which TensorFlow requires")
    return python


def _print(answer: Answer, style: str, here: Here) -> None:
    code = ExitCode.HEALTHY if answer.choices else ExitCode.FAULT
    try:
        show(render.render(answer, style, display_options("never")["width"], here), code)
    except files.NoFile as error:
        say(f"gpucheck: {error}")
        raise SystemExit(ExitCode.FAULT) from None
    raise SystemExit(code)


def _apply(answer: Answer, here: Here, folder: str, host: Host, deadline: float) -> None:
    """Create the best choice's environment and verify it."""
    if answer.best is None:
        _print(answer, "terminal", here)
    try:
        with progress_text() as progress:
            proof = apply.apply(answer, folder, host, steps.Screen(say, progress, signals.uninterruptible), deadline)
    except apply.Refused as error:
        if error.usage:
            raise click.UsageError(str(error)) from None
        say(f"gpucheck: {error}")
        raise SystemExit(ExitCode.UNKNOWN) from None
    except steps.Failed as error:
        say(f"gpucheck: {error}")
        raise SystemExit(ExitCode.FAULT) from None
    exit_code = ExitCode.HEALTHY if proof.good else ExitCode.FAULT
    show(render.proven(answer.choices[0], folder, proof.good, proof.text, answer.machine), exit_code)
    raise SystemExit(exit_code)
