"""From options to a request, and from a request to a report of this machine: what every command that looks has in common."""

import contextlib
import functools
import signal
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import click
from click.core import ParameterSource

from gpucheck.cli.parameters import ExpectationsFile, Interpreter, Seconds
from gpucheck.cli.screen import progress_line
from gpucheck.host import Host
from gpucheck.model import Level, Report, Request
from gpucheck.plugin import modules

STRATEGIES = [name.rpartition(".")[2] for name in modules("gpucheck.strategies")]
BACKENDS = ("tensorflow", "jax", "torch")
KERAS_STRATEGIES = ("data_parallel",)  # Keras' own, with another backend; it shares one_device
TIMEOUT_SECONDS = {Level.QUICK: 120.0, Level.DEFAULT: 120.0, Level.FULL: 300.0}
ASKED = (
    *("level", "allow_cpu", "no_smoke", "strict", "timeout", "python", "strategies", "expectations"),
    *("backend", "logical_devices", "log_device_placement"),
)
Command = Callable[..., Any]

_EXPECT = click.option(
    "--expect",
    "expectations",
    type=ExpectationsFile(),
    metavar="FILE.toml",
    help="Judge what this machine is against what is expected of it; `gpucheck snapshot` writes such a file.",
)
_OPTIONS = (
    click.option(
        "--quick", "level", flag_value="quick", help="Everything that needs no TensorFlow import: a fraction of a second."
    ),
    click.option("--full", "level", flag_value="full", help="Also other precisions, XLA-compiled training and several workers."),
    click.option("--allow-cpu", is_flag=True, help="A machine with no accelerator is fine (one with a broken one is not)."),
    click.option("--no-smoke", is_flag=True, help="Look at TensorFlow, but train nothing."),
    click.option("--strict", is_flag=True, help="Warnings fail too."),
    click.option(
        "--timeout",
        type=Seconds(),
        default=None,
        help="Limit of the whole run, report included.  [default: 120, with --full 300]",
    ),
    click.option("--python", type=Interpreter(), metavar="PATH", help="Examine this interpreter's environment."),
    click.option(
        "--strategy",
        "strategies",
        multiple=True,
        metavar="NAME",
        type=click.Choice([*STRATEGIES, *KERAS_STRATEGIES]),
        help=f"Train with this strategy only; may be repeated. One of: {', '.join(STRATEGIES)}; with --backend jax: one_device,"
        f" {', '.join(KERAS_STRATEGIES)}.",
    ),
    click.option(
        "--backend",
        type=click.Choice(BACKENDS),
        help="Keras backend to prove, whatever KERAS_BACKEND and keras.json say; jax and torch leave TensorFlow out.",
    ),
    click.option(
        "--logical-devices",
        type=click.IntRange(0, 64),
        default=0,
        metavar="N",
        help="Split each GPU, or without one the CPU, into N logical devices and train on all of them.",
    ),
    click.option(
        "--log-device-placement", is_flag=True, help="Show TensorFlow's own log of where each operation ran (standard error)."
    ),
)


def request_options(*, level: Level = Level.DEFAULT, expect: bool = True) -> Callable[[Command], Command]:
    """Give a command the options that say what is looked at; it is handed ``request``, a ``Request``.

    Args:
        level: how deep it looks unless it is told.
        expect: with ``--expect``.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def asked(**options: Any) -> Any:
            given = {name: options.pop(name, None) for name in ASKED}
            return command(request=_request(level, **given), **options)

        for option in reversed((*_OPTIONS, _EXPECT) if expect else _OPTIONS):
            asked = option(asked)
        return asked

    return decorate


def _request(
    default: Level,
    *,
    level: str | None,
    no_smoke: bool,
    timeout: float | None,
    strategies: tuple[str, ...],
    **asked: Any,
) -> Request:
    if strategies and (no_smoke or level == "quick"):
        # What is typed wins over what is configured; of two that are typed, neither.
        if not _typed("strategies"):
            strategies = ()
        elif (no_smoke and _typed("no_smoke")) or (level == "quick" and _typed("level")):
            raise click.UsageError("--strategy asks for training, which --quick and --no-smoke leave out")
        else:
            no_smoke, level = False, None if level == "quick" else level
    depth = default if level is None else Level[level.upper()]
    return Request(
        level=depth,
        smoke=not no_smoke,
        timeout_seconds=TIMEOUT_SECONDS[depth] if timeout is None else timeout,
        strategies=strategies,
        **asked,
    )


def _typed(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def diagnose_here(request: Request, started: float, env: Mapping[str, str] | None = None) -> Report:
    """Look at this machine. Exits on SIGTERM and Ctrl-C; afterwards SIGTERM is handled as it was before.

    Args:
        request: what is asked.
        started: ``time.monotonic()`` of the command's start.
        env: the environment to look at, if not this process' own.
    """
    from gpucheck.host.local import LocalHost
    from gpucheck.pipeline import diagnose

    with _terminable(), LocalHost(request, env=env, started=started) as host:
        if request.python is not None and "problem" in host.interpreter():
            raise click.UsageError(f"{request.python} did not answer as a Python interpreter: {host.interpreter()['problem']}")
        progress = progress_line(host)
        try:
            report = diagnose(host, started, progress)
            if request.log_device_placement and request.other_backend is None:
                _show_placement(host)
            return report
        except KeyboardInterrupt:
            raise SystemExit(130) from None
        finally:
            if progress is not None:
                progress.close()  # type: ignore[attr-defined]


def _show_placement(host: Host) -> None:
    """TensorFlow's own lines, as it wrote them; of very many, the last megabyte."""
    from gpucheck.probes._framework import child

    for line in child(host).log().splitlines():
        if "/job:" in line and "/device:" in line:
            click.echo(line, err=True)


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Inside, SIGTERM ends this process only after its children."""

    def terminate(*_: object) -> None:
        raise SystemExit(143)

    try:
        before = signal.signal(signal.SIGTERM, terminate)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)
