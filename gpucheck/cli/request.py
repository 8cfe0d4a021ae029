"""From options to a request, and from a request to a report of this machine: what every command that looks has in common."""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from gpucheck.cli import examined, time_limit
from gpucheck.cli.parameters import DEPTHS, SECONDS, ExpectationsFile, Interpreter
from gpucheck.cli.screen import progress_line, say
from gpucheck.cli.time_limit import TimeLimit, Write
from gpucheck.core.engine.plugin import modules
from gpucheck.core.host import PLACEMENT_LOG_BYTES, Host
from gpucheck.core.model import TIMEOUT_SECONDS, Expectations, Level, Report, Request
from gpucheck.core.model.progress import Progress
from gpucheck.core.system.bounded import NoAnswer, within

KERAS_STRATEGIES = ["data_parallel"]  # Keras' own, with another backend. Strategies are not imported: it takes time
STRATEGIES = [
    name for module in modules("gpucheck.core.training.strategies") if (name := module.rpartition(".")[2]) not in KERAS_STRATEGIES
]
BACKENDS = ("tensorflow", "jax", "torch")
ASKED = (
    *("allow_cpu", "no_smoke", "strict", "timeout", "python", "strategies", "expectations"),
    *("backend", "logical_devices", "log_device_placement"),
)
Command = Callable[..., Any]
PYTHON = click.option(
    "--python",
    type=Interpreter(),
    default=examined.interpreter,
    metavar="PATH",
    help="Examine this interpreter's environment.  [default: gpucheck's own; with pipx, uv tool and uvx the active one's]",
)


def set_limit(context: click.Context, option: click.Parameter, seconds: float | None) -> float | None:
    """Set the end of the command before the other options are read, which may name files that do not answer."""
    whole = context.find_object(TimeLimit)
    if whole is not None:  # None: a caller parses options, and runs nothing
        whole.set(TIMEOUT_SECONDS[Level.DEFAULT] if seconds is None else seconds)
    return seconds


_EXPECT = click.option(
    "--expect",
    "expectations",
    type=ExpectationsFile(),
    multiple=True,
    metavar="FILE.toml",
    help="Judge what this machine is against what is expected of it; `gpucheck snapshot` writes such a file. May be repeated.",
)
_OPTIONS = (
    click.option("--quick", is_flag=True, help="Everything that needs no TensorFlow import: a fraction of a second."),
    click.option("--full", is_flag=True, help="Also other precisions, XLA-compiled training and several workers."),
    click.option("--allow-cpu", is_flag=True, help="A machine with no accelerator is fine (one with a broken one is not)."),
    click.option("--no-smoke", is_flag=True, help="Look at TensorFlow, but train nothing."),
    click.option("--strict", is_flag=True, help="Warnings fail too."),
    click.option(
        "--timeout",
        type=SECONDS,
        default=None,
        is_eager=True,
        callback=set_limit,
        help="Limit of the whole run, report included.  [default: 120, with --full 300]",
    ),
    PYTHON,
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
        level: how deep it looks unless it is told by --quick, --full or, where the command has it, --default.
        expect: with ``--expect``.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def asked(**options: Any) -> Any:
            given = {name: options.pop(name, None) for name in ASKED}
            depth = _depth({name: bool(options.pop(name, False)) for name in DEPTHS})
            request = _request(level, depth=depth, **{**given, "expectations": merged(given["expectations"] or ())})
            click.get_current_context().obj.set(request.timeout_seconds)
            return command(request=request, **options)

        for option in reversed((*_OPTIONS, _EXPECT) if expect else _OPTIONS):
            asked = option(asked)
        return asked

    return decorate


def _request(
    default: Level,
    *,
    depth: str | None,
    no_smoke: bool,
    timeout: float | None,
    strategies: tuple[str, ...],
    **asked: Any,
) -> Request:
    if strategies and (no_smoke or depth == "quick"):
        # What is typed wins over what is configured; of two that are typed, neither.
        if not typed("strategies"):
            strategies = ()
        elif (no_smoke and typed("no_smoke")) or (depth == "quick" and typed("quick")):
            raise click.UsageError("--strategy asks for training, which --quick and --no-smoke leave out")
        else:
            no_smoke, depth = False, None if depth == "quick" else depth
    level = default if depth is None else Level[depth.upper()]
    return Request(
        level=level,
        smoke=not no_smoke,
        timeout_seconds=TIMEOUT_SECONDS[level] if timeout is None else timeout,
        strategies=strategies,
        **asked,
    )


def merged(expectations: Sequence[Expectations]) -> Expectations | None:
    """Everything that several files expect together.

    Raises:
        click.UsageError: two of them contradict each other.
    """
    if not expectations:
        return None
    from gpucheck.core.expectations.read import Contradiction, merge

    try:
        return functools.reduce(merge, expectations)
    except Contradiction as error:
        raise click.UsageError(f"two files of --expect contradict each other: {error}") from None


def _depth(flags: dict[str, bool]) -> str | None:
    """The depth that was asked for; what is typed wins over what is configured."""
    wanted = [name for name, flag in flags.items() if flag]
    asked = [name for name in wanted if typed(name)]
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(f'--{name}' for name in asked)} ask for different depths; give one")
    return next(iter(asked or wanted), None)


def typed(*names: str) -> bool:
    """Whether one of these options stands on the command line."""
    context = click.get_current_context()
    return any(context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in names)


def diagnose_here(
    request: Request,
    limit: TimeLimit,
    env: Mapping[str, str] | None = None,
    write_partial: Callable[[Report], Iterable[Write]] = lambda partial: (),
) -> Report:
    """Look at this machine.

    Args:
        request: what is asked.
        limit: the command's.
        env: the environment to look at, if not this process' own.
        write_partial: writes the partial report, if the command is ended at its limit.
    """
    from gpucheck.core.engine.pipeline import diagnose

    progress = Progress[Report]()
    limit.write_partial(progress, write_partial)
    with this_machine(request, limit.started, env) as host, progress_line(host) as tick:
        report = diagnose(host, limit.started, tick, progress)
        if request.log_device_placement and request.other_backend is None:
            _show_placement(host)
        return report


@contextlib.contextmanager
def this_machine(request: Request, started: float, env: Mapping[str, str] | None = None) -> Iterator[Host]:
    """The host of this machine, closed when the command has looked.

    Raises:
        click.UsageError: the interpreter to examine does not answer.
    """
    from gpucheck.core.host import orphans
    from gpucheck.core.host.local import LocalHost

    if time_limit.enforced() is not None:  # in a process of its own
        orphans.adopt()
    with LocalHost(request, env=env, started=started) as host:
        if request.python is not None:
            if click.get_current_context().get_parameter_source("python") is ParameterSource.DEFAULT:
                examined.tell(request.python)
            problem = _problem(host)
            if problem is not None:
                raise click.UsageError(f"{request.python} did not answer as a Python interpreter: {problem}")
        yield host


def _problem(host: Host) -> str | None:
    """Why the examined interpreter gives no account of itself; None if it does."""
    try:
        answer = within(host.remaining(), host.interpreter)
    except NoAnswer as error:
        return error.strerror
    return answer if isinstance(answer, str) else None


def _show_placement(host: Host) -> None:
    """TensorFlow's own lines, as it wrote them; of very many, the first and the last, and how much is missing."""
    from gpucheck.core.processes.frameworks import tensorflow_children

    for name, child in tensorflow_children(host):
        for line in child.log(PLACEMENT_LOG_BYTES).splitlines():
            if ("/job:" in line and "/device:" in line) or line.endswith(" bytes left out ..."):
                say(f"{name}: {line}" if name else line)
