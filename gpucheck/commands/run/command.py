"""The command ``run``: check, then become the job."""

import math
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click
import msgspec

from gpucheck.cli import signals
from gpucheck.cli.parameters import DEPTHS, SECONDS, Command
from gpucheck.cli.request import diagnose_here, request_options, typed
from gpucheck.cli.screen import look, say
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.host import Host, orphans
from gpucheck.core.model import Level, Report, Request, Verdict
from gpucheck.core.system import ulimits
from gpucheck.core.system.bounded import FILE_SECONDS, NoAnswer, within

CACHE_SECONDS = 1.0  # to look up or note a pass
_Result = TypeVar("_Result")
EXAMPLES = """\b
Examples:
  gpucheck run -- python train.py                     the quick checks, then training
  gpucheck run --default -- python train.py           train a little on every device first
  gpucheck run --repair -- python train.py            with the variables that `gpucheck env` would print
  gpucheck run --cache 3600 --default -- ./job.sh     look again only an hour after the last pass
  ENTRYPOINT ["gpucheck", "run", "--"]                in a Dockerfile
"""


@click.command(cls=Command, epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@request_options(level=Level.QUICK)
@click.option("--default", is_flag=True, help="As deep as `gpucheck` alone: train on every device.")
@click.option(
    "--on-fail",
    type=click.Choice(["stop", "warn"]),
    default="stop",
    show_default=True,
    help="After a check that failed: don't start the command, or say so and start it.",
)
@click.option("--repair", is_flag=True, help="Give the command the variables that `gpucheck env` would print.")
@click.option("--cache", "cache_seconds", type=SECONDS, metavar="SECONDS", help="Don't check again so soon after a pass.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="NO_COLOR is honoured too.")
@click.option("-v", "--verbose", is_flag=True, help="The whole report of a check that found something.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="[--] COMMAND...")
@click.pass_obj
def run(
    limit: TimeLimit,
    on_fail: str,
    repair: bool,
    cache_seconds: float | None,
    color: str,
    verbose: bool,
    command: tuple[str, ...],
    request: Request,
) -> None:
    """Check this machine (--quick, unless told otherwise), then become COMMAND.

    The command takes this process' place: process number, signals, standard streams, working folder and exit code are its own.
    If the check fails, the command is not started: exit code 1 (3: no verdict), and a line on standard error. A healthy machine
    is not mentioned. As in a shell, 127 is a command that is not there, 126 one that can't be executed. What --backend names is
    handed to the command as KERAS_BACKEND.
    """
    from gpucheck.commands.run import exec_command

    if request.strategies or (not request.smoke and request.level is Level.QUICK and not typed(*DEPTHS)):
        request = msgspec.structs.replace(request, level=max(request.level, Level.DEFAULT))
    try:
        path = _locate(command[0])
        env = _checked(request, limit, repair, cache_seconds, on_fail, color, verbose)
        orphans.disown()
        exec_command.reap()
        signals.release()
        ulimits.restore()
        if sys.platform == "win32":  # elsewhere the command takes the watchdog's place, too
            limit.set_end(math.inf)
        exec_command.replace_process(path, command, env)
    except exec_command.CannotStart as error:
        say(f"gpucheck: {error}")
        raise SystemExit(error.exit_code) from None


def _checked(
    request: Request, limit: TimeLimit, repair: bool, cache_seconds: float | None, on_fail: str, color: str, verbose: bool
) -> dict[str, str]:
    """The environment to start the command with, once the check has passed; SystemExit where it has not."""
    env = dict(os.environ)
    if request.backend is not None:
        env["KERAS_BACKEND"] = request.backend  # what was checked is what is started
    name = None
    if cache_seconds is not None:
        from gpucheck.commands.run import pass_cache

        name = _name(request, repair)
        changes = None if name is None else _bounded(CACHE_SECONDS, pass_cache.recall, name, cache_seconds, env)
        if changes is not None:
            return _changed(env, changes)

    def look_here(request: Request, env: Mapping[str, str] | None = None) -> Report:
        return diagnose_here(request, limit, env, lambda partial: [lambda: _tell(partial, "stop", color, verbose)])

    report, repaired = _repaired(request, look_here, env) if repair else (look_here(request), env)
    if report.exit_code == 0 and name is not None:
        changes = [(name, repaired.get(name)) for name in sorted({*env, *repaired}) if env.get(name) != repaired.get(name)]
        _bounded(CACHE_SECONDS, pass_cache.remember, name, env, changes)
    if report.verdict is not Verdict.PASS:
        _tell(report, on_fail, color, verbose)
    if report.exit_code != 0 and on_fail == "stop":
        raise SystemExit(report.exit_code)
    return repaired


def _repaired(request: Request, look_here: Callable[..., Report], env: dict[str, str]) -> tuple[Report, dict[str, str]]:
    """The quick checks tell what to repair and prove it; a deeper check then looks at the repaired environment."""
    from gpucheck.core.repairs.prove import prove
    from gpucheck.core.repairs.shells import applied

    quick = msgspec.structs.replace(request, level=Level.QUICK, strategies=())
    proof = prove(lambda changed: look_here(quick, changed), env)
    repaired = applied(proof.assignments, env)
    return (proof.report if request == quick else look_here(request, repaired)), repaired


def _locate(program: str) -> str:
    """The command's file, as ``exec_command.locate``; a folder of PATH may not answer."""
    from gpucheck.commands.run import exec_command

    try:
        return within(FILE_SECONDS, exec_command.locate, program, os.environ)
    except NoAnswer as error:
        raise exec_command.CannotStart(exec_command.NOT_EXECUTABLE, f"{program}: {error.strerror}") from None


def _bounded(seconds: float, work: Callable[..., _Result], *args: Any) -> _Result | None:
    """What a function of the cache of passes returns; None where its files do not answer, and nothing is remembered then."""
    try:
        return within(seconds, work, *args)
    except NoAnswer:
        return None


def _name(request: Request, repair: bool) -> str | None:
    from gpucheck.commands.run import pass_cache
    from gpucheck.core.host.local import LocalHost
    from gpucheck.core.probes.limits import lasting, read

    with LocalHost(request) as host:
        return _bounded(
            FILE_SECONDS,
            lambda: pass_cache.key(request, os.environ, _described(host), f"repair {repair}", lasting(read(host))),
        )


def _described(host: Host) -> dict[str, Any]:
    """What the examined interpreter says of itself; nothing where it does not."""
    answer = host.interpreter()
    return {} if isinstance(answer, str) else msgspec.structs.asdict(answer)


def _changed(env: dict[str, str], changes: list[tuple[str, str | None]]) -> dict[str, str]:
    for name, value in changes:
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def _tell(report: Report, on_fail: str, color: str, verbose: bool) -> None:
    from gpucheck.core.reports.shared.findings import roots
    from gpucheck.core.reports.shared.headline import headline

    if verbose:
        from gpucheck.core.reports import terminal

        say(terminal.render(report, verbose=True, **look(color, sys.stderr)), nl=False, color=True)
    first = next(iter(roots(report)), None)
    code = f"{first.code}: " if first is not None and report.verdict is not Verdict.UNKNOWN else ""
    outcome = "warning" if report.exit_code == 0 else "not started" if on_fail == "stop" else "started all the same"
    say(f"gpucheck: {outcome}: {code}{' '.join(headline(report).split())}")
