"""The command ``run``: check, then replace this process with the job."""

import contextlib
import math
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click
import msgspec

from gpucheck.cli import failure, registry, signals
from gpucheck.cli.parameters import COLOR, DEPTHS, SECONDS, Command, typed
from gpucheck.cli.request import diagnose_here, request_options
from gpucheck.cli.screen import display_options, say, say_wrapped
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.host import Host, orphans
from gpucheck.core.model import Level, Report, Request, Verdict
from gpucheck.core.system import ulimits
from gpucheck.core.system.bounded import FILE_SECONDS, NoResponse, with_timeout

CACHE_SECONDS = 1.0  # timeout of reading or writing a cached pass
START_SECONDS = 10.0  # timeout of the monitor's start
# The second fork keeps the monitor from being a child of the command. The package's folder comes last on sys.path.
_START = (
    "import os, sys; from importlib import import_module; os.fork() and os._exit(0); sys.path.append(sys.argv.pop(1)); "
    "import_module(sys.argv.pop(1)).main()"
)
_Result = TypeVar("_Result")
EXAMPLES = """\b
Examples:
  gpucheck run -- python train.py                     run the quick checks, then train
  gpucheck run --default -- python train.py           train briefly on every device first
  gpucheck run --repair -- python train.py            with the variables that `gpucheck env` would print
  gpucheck run --watch -- python train.py             report at the end what limits the training
  gpucheck run --cache 3600 --default -- ./job.sh     skip the check for an hour after a pass
  ENTRYPOINT ["gpucheck", "run", "--"]                in a Dockerfile
"""


@click.command(cls=Command, epilog=EXAMPLES, context_settings={"allow_interspersed_args": False})
@request_options(level=Level.QUICK)
@click.option("--default", is_flag=True, help="Run the same checks as `gpucheck` alone: train on every device.")
@click.option(
    "--on-fail",
    type=click.Choice(["stop", "warn"]),
    default="stop",
    show_default=True,
    help="If the check fails: don't start the command, or warn and start it.",
)
@click.option("--repair", is_flag=True, help="Set the variables that `gpucheck env` prints, for the command.")
@click.option("--cache", "cache_seconds", type=SECONDS, metavar="SECONDS", help="Skip the check for this long after a pass.")
@click.option(
    "--watch", is_flag=True, help="Report what limits the training, after each fit of Keras or at the end of the command."
)
@COLOR
@click.option("-v", "--verbose", is_flag=True, help="Print the whole report if the check found something.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="[--] COMMAND...")
@click.pass_obj
def run(
    limit: TimeLimit,
    on_fail: str,
    repair: bool,
    cache_seconds: float | None,
    watch: bool,
    color: str,
    verbose: bool,
    command: tuple[str, ...],
    request: Request,
) -> None:
    """Check this machine (--quick by default), then become COMMAND.

    The command replaces this process: it keeps the process ID, signals, standard streams and working directory, and its exit code
    is returned. If the check fails, the command is not started: the exit code is 1 (3: no verdict), and a line on standard error
    gives the reason. On a healthy machine, nothing is printed. As in a shell, exit code 127 means command not found, 126 not
    executable. --backend is passed to the command as KERAS_BACKEND.

    With --watch, each fit of Keras 3 ends with the summary of gpucheck.keras.Watch, if gpucheck is installed in the command's
    Python. Otherwise the command ends with a summary of its use of GPUs, processors, memory and disks.
    """
    from gpucheck.commands.run import exec_command

    if request.strategies or (not request.smoke and request.level is Level.QUICK and not typed(*DEPTHS)):
        request = msgspec.structs.replace(request, level=max(request.level, Level.DEFAULT))
    watcher = _watcher() if watch else None
    try:
        path = _locate(command[0])
        env = exec_command.own_environment()
        if request.backend is not None:
            env["KERAS_BACKEND"] = request.backend  # the command uses the checked backend
        try:
            env = _check(request, limit, env, repair, cache_seconds, on_fail, color, verbose)
        except click.ClickException:
            raise
        except Exception as error:
            if on_fail == "stop":
                raise
            failure.report(error)
            say("gpucheck: started anyway: the check could not be completed")
        with contextlib.suppress(Exception):  # the command must start anyway
            orphans.disown()
        exec_command.reap()
        if watcher is not None:
            env = _watched(env, watcher)
        signals.release()
        ulimits.restore()
        if sys.platform == "win32":  # on other systems, exec also ends the watchdog
            limit.set_end(math.inf)
        exec_command.replace_process(path, command, env)
    except exec_command.CannotStart as error:
        say(f"gpucheck: {error}")
        raise SystemExit(error.exit_code) from None


def _check(
    request: Request,
    limit: TimeLimit,
    env: dict[str, str],
    repair: bool,
    cache_seconds: float | None,
    on_fail: str,
    color: str,
    verbose: bool,
) -> dict[str, str]:
    """Return the command's environment, ``env`` or a repaired one, if the check passed; otherwise raise SystemExit."""
    name = None
    if cache_seconds is not None:
        from gpucheck.commands.run import pass_cache

        name = _cache_key(request, repair)
        changes = None if name is None else _with_cache_timeout(CACHE_SECONDS, pass_cache.recall, name, cache_seconds, env)
        if changes is not None:
            return {name: value for name, value in {**env, **dict(changes)}.items() if value is not None}

    def examine(request: Request, env: Mapping[str, str] | None = None) -> Report:
        return diagnose_here(request, limit, env, lambda partial: [lambda: _print_outcome(partial, "stop", color, verbose)])

    report, repaired = _repaired(request, examine, env) if repair else (examine(request), env)
    if report.exit_code == 0 and name is not None:
        changes = [(name, repaired.get(name)) for name in sorted({*env, *repaired}) if env.get(name) != repaired.get(name)]
        _with_cache_timeout(CACHE_SECONDS, pass_cache.remember, name, env, changes)
    if report.verdict is not Verdict.PASS:
        _print_outcome(report, on_fail, color, verbose)
    if report.exit_code != 0 and on_fail == "stop":
        raise SystemExit(report.exit_code)
    return repaired


def _repaired(request: Request, examine: Callable[..., Report], env: dict[str, str]) -> tuple[Report, dict[str, str]]:
    """Find and verify repairs with the quick checks, then run a deeper check in the repaired environment."""
    from gpucheck.core.repairs.verify import verify
    from gpucheck.core.system.shells import applied

    quick = msgspec.structs.replace(request, level=Level.QUICK, strategies=())
    verified = verify(lambda changed: examine(quick, changed), env)
    repaired = applied(verified.assignments, env)
    return (verified.report if request == quick else examine(request, repaired)), repaired


def _locate(program: str) -> str:
    """Find the command's file, see ``exec_command.locate``; a folder of PATH may hang."""
    from gpucheck.commands.run import exec_command

    try:
        return with_timeout(FILE_SECONDS, exec_command.locate, program, os.environ)
    except NoResponse as error:
        raise exec_command.CannotStart(exec_command.NOT_EXECUTABLE, f"{program}: {error.strerror}") from None


def _with_cache_timeout(seconds: float, work: Callable[..., _Result], *args: Any) -> _Result | None:
    """Call a function of the pass cache with a timeout; None if the cache's file system hangs."""
    try:
        return with_timeout(seconds, work, *args)
    except NoResponse:
        return None


def _cache_key(request: Request, repair: bool) -> str | None:
    from gpucheck.commands.run import pass_cache
    from gpucheck.core.host.local import LocalHost
    from gpucheck.core.probes.limits import comparable, read

    with LocalHost(request) as host:
        return _with_cache_timeout(
            FILE_SECONDS,
            lambda: pass_cache.key(request, os.environ, _describe(host), f"repair {repair}", comparable(read(host))),
        )


def _describe(host: Host) -> dict[str, Any]:
    """Return the description of the examined interpreter; empty if it failed."""
    answer = host.interpreter()
    return {} if isinstance(answer, str) else msgspec.structs.asdict(answer)


def _print_outcome(report: Report, on_fail: str, color: str, verbose: bool) -> None:
    from gpucheck.core.repairs.fixes import ALLOW_CPU
    from gpucheck.core.reports.shared.headline import in_lines

    if verbose:
        from gpucheck.core.reports import terminal

        say(terminal.render(report, verbose=True, **display_options(color, sys.stderr)), nl=False, color=True)
    outcome = "warning" if report.exit_code == 0 else "not started" if on_fail == "stop" else "started anyway"
    say_wrapped("\n".join(f"gpucheck: {line}" for line in in_lines(report, outcome, steps=not verbose)))
    fixes = [fix.command for finding in report.findings if finding.explained_by is None for fix in finding.fix]
    if outcome == "not started" and ALLOW_CPU.command in fixes:
        say_wrapped("gpucheck: to run it on the CPU anyway: gpucheck run --allow-cpu -- COMMAND")
    others = [words for words in fixes if words is not None and words.startswith("gpucheck --backend ")]
    if outcome == "not started" and others:
        option = others[0].removeprefix("gpucheck ")
        say_wrapped(f"gpucheck: if it trains with Keras on another backend: gpucheck run {option} -- COMMAND")


def _watcher() -> Any:
    """Return the package of the command that monitors training."""
    for folder in registry.folders():
        if hasattr(folder, "MONITOR"):
            return folder
    raise click.UsageError("this installation of gpucheck has no folder commands/watch, which --watch needs")


def _watched(env: dict[str, str], watcher: Any) -> dict[str, str]:
    """Start the monitor of this process, and return an environment that adds a ``Watch`` to each fit of Keras.

    Process 1 starts no monitor: the monitor would become a child of the command, and the kernel would end it with the command.
    """
    import subprocess
    import tempfile

    from gpucheck.core.host.child import PACKAGE

    root, own = os.path.dirname(PACKAGE), str(os.getpid())
    startup = os.path.join(root, *watcher.STARTUP.split("."))
    env = {**env, "PYTHONPATH": os.pathsep.join(filter(None, [startup, env.get("PYTHONPATH")]))}
    if sys.platform == "win32" or os.getpid() == 1:
        return env
    try:
        pipe = os.path.join(tempfile.mkdtemp(prefix="gpucheck-"), own)  # the monitor removes it
        os.mkfifo(pipe, 0o600)
        argv, null = [sys.executable, "-c", _START, root, watcher.MONITOR, own, pipe], subprocess.DEVNULL
        subprocess.Popen(argv, stdin=null, stdout=null, cwd="/", start_new_session=True).wait(START_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"gpucheck: --watch can only monitor fits of Keras: {error}")
        return env
    return {**env, "GPUCHECK_WATCH": pipe}
