"""The command ``env``: print the variables that repair this environment, or install them permanently."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from gpucheck.cli.parameters import SECONDS, Command
from gpucheck.cli.request import PYTHON, diagnose_here, this_machine
from gpucheck.cli.screen import say, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.model import ExitCode, Level, Report, Request

if TYPE_CHECKING:
    from gpucheck.core.model import Assignment

EXAMPLES = """\b
Examples:
  eval "$(gpucheck env)"                              sh, bash, zsh
  gpucheck env --shell fish | source
  gpucheck env --shell powershell | Out-String | Invoke-Expression
  gpucheck env --shell docker >> Dockerfile
  gpucheck env --install                              for each activation of this virtual or conda environment
  gpucheck run --repair -- python train.py            for one command only
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.option(
    "--shell",
    type=click.Choice(["sh", "fish", "powershell", "dotenv", "docker"]),
    default="sh",
    show_default=True,
    help="Syntax to print: for a shell, a .env file or a Dockerfile.",
)
@click.option("--apply-growth", is_flag=True, help="Also let TensorFlow allocate GPU memory only as needed.")
@click.option("--install", "action", flag_value="install", help="Write the variables to the environment's activation script.")
@click.option("--uninstall", "action", flag_value="uninstall", help="Remove what --install wrote.")
@PYTHON
@click.option("--timeout", type=SECONDS, default=60.0, show_default=True, help="Time limit for each check.")
@click.pass_obj
def env(limit: TimeLimit, /, shell: str, apply_growth: bool, action: str | None, python: str | None, timeout: float) -> None:
    """Print the fewest variables that let TensorFlow see and use the GPUs, each with its reason.

    Nothing is printed if no variable is needed. The variables are tested before they are printed: the quick checks run again
    with them. Exit codes: 0 these checks found no fault, 1 a fault, 3 no verdict; the reason is on standard error.
    """
    from gpucheck.core.repairs.verify import growth, verify
    from gpucheck.core.system.shells import SHELLS

    limit.set(timeout)
    request = Request(level=Level.QUICK, timeout_seconds=timeout, python=python)
    if action == "uninstall":
        _uninstall(request, limit)
        return
    verified = verify(lambda changed: _check(request, limit, changed), os.environ)
    assignments = verified.assignments + (growth(os.environ) if apply_growth else ())
    if action == "install":
        _install(assignments, verified.report)
    else:
        show(SHELLS[shell](assignments, os.environ), verified.report.exit_code)
    if verified.report.exit_code != ExitCode.HEALTHY:
        _report_failure(verified.report, bool(assignments))
    raise SystemExit(verified.report.exit_code)


def _check(request: Request, limit: TimeLimit, changed: Mapping[str, str]) -> Report:
    """Run one of several checks, each with the full time limit."""
    limit.restart(request.timeout_seconds)
    return diagnose_here(request, limit, changed, lambda partial: [lambda: _report_failure(partial, False)])


def _install(assignments: tuple["Assignment", ...], report: Report) -> None:
    from gpucheck.core.probes.interpreter import Interpreter
    from gpucheck.core.repairs import install

    interpreter = report.fact(Interpreter)
    prefix, kind = (interpreter.prefix, interpreter.environment) if interpreter else ("an interpreter that did not respond", None)
    persistent = install.persistent(assignments)
    for assignment in assignments:
        if assignment not in persistent:
            _say(f"not saved, because it is specific to this job: {assignment.variable} ({assignment.reason})")
    with _refusals():
        if persistent:
            changed = install.install(persistent, prefix, kind)
            _say(*([f"written: {path}" for path in changed] or ["already there"]))
        elif install.installed(prefix, kind):
            _say("nothing else is needed; the installed variables were kept")
        else:
            _say("nothing is needed, and nothing was installed")


def _uninstall(request: Request, limit: TimeLimit) -> None:
    from gpucheck.core.probes import interpreter
    from gpucheck.core.repairs import install

    with this_machine(request, limit.started) as host, _refusals():
        found = interpreter.read(host)
        changed = install.uninstall(found.prefix, found.environment)
    _say(*([f"restored: {path}" for path in changed] or ["nothing was installed"]))


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """Convert errors inside the block into one line and an exit code."""
    from gpucheck.core.repairs.install import NoEnvironment

    try:
        yield
    except NoEnvironment as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        _say(f"cannot write {error.filename}: {error.strerror or error}")
        raise SystemExit(ExitCode.FAULT) from None


def _report_failure(report: Report, printed: bool) -> None:
    from gpucheck.core.reports.shared.headline import in_lines

    _say(*in_lines(report, "still failing with these variables" if printed else "no environment variable fixes this"))


def _say(*lines: str) -> None:
    for line in lines:
        say(f"gpucheck: {line}")
