"""Turn options into a request, and a request into a report of this machine, for every command that examines one."""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from gpucheck.cli import failure, installation, time_limit
from gpucheck.cli.parameters import DEPTHS, SECONDS, ExpectationsFile, Interpreter, typed
from gpucheck.cli.screen import progress_line, say
from gpucheck.cli.time_limit import TimeLimit, Write
from gpucheck.core.engine.discovery import strategies
from gpucheck.core.host import PLACEMENT_LOG_BYTES, Host
from gpucheck.core.model import TIMEOUT_SECONDS, Expectations, Level, Report, Request
from gpucheck.core.model.progress import Progress
from gpucheck.core.system.bounded import NoResponse, with_timeout

KERAS_STRATEGIES = ["data_parallel"]  # Keras' own, for other backends. Importing the strategies would be slow
STRATEGIES = [name for name in strategies() if name not in KERAS_STRATEGIES]
BACKENDS = ("tensorflow", "jax", "torch")  # TRAINING_BACKENDS, whose module would load the tables of all releases at every start
REQUEST_OPTIONS = (
    *("allow_cpu", "no_smoke", "strict", "timeout", "python", "strategies", "expectations"),
    *("backend", "logical_devices", "log_device_placement"),
)
Command = Callable[..., Any]
PYTHON = click.option(
    "--python",
    type=Interpreter(),
    default=installation.interpreter,
    metavar="PATH",
    help="Check the environment of this interpreter.  [default: gpucheck's own; with pipx, uv tool and uvx the active one]",
)


def set_limit(context: click.Context, option: click.Parameter, seconds: float | None) -> float | None:
    """Set the command's time limit before the other options are parsed: their files may be on a file system that hangs."""
    whole = context.find_object(TimeLimit)
    if whole is not None:  # None: the caller parses options without running anything
        whole.set(TIMEOUT_SECONDS[Level.DEFAULT] if seconds is None else seconds)
    return seconds


def expect_option(text: str) -> Callable[[Any], Any]:
    """Add ``--expect`` to a command, which receives ``expectations``; ``text`` is the option's help."""
    kind = ExpectationsFile()
    return click.option("--expect", "expectations", type=kind, multiple=True, metavar="FILE.toml", help=text)


_EXPECT = expect_option(
    "Check that this machine meets the expectations in a file; `gpucheck snapshot` writes one. May be repeated."
)
_OPTIONS = (
    click.option("--quick", is_flag=True, help="Run only the checks that don't import TensorFlow (a fraction of a second)."),
    click.option(
        "--full", is_flag=True, help="Also test other precisions, XLA-compiled training and several workers, and run experiments."
    ),
    click.option(
        "--allow-cpu", is_flag=True, help="Accept a machine without an accelerator (but not one whose accelerator is broken)."
    ),
    click.option("--no-smoke", is_flag=True, help="Check TensorFlow, but don't train."),
    click.option("--strict", is_flag=True, help="Treat warnings as faults."),
    click.option(
        "--timeout",
        type=SECONDS,
        default=None,
        is_eager=True,
        callback=set_limit,
        help="Time limit for the whole run, including the report.  [default: 120; with --full 300]",
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
        help="Keras backend to test; overrides KERAS_BACKEND and keras.json. With jax or torch, TensorFlow is not tested.",
    ),
    click.option(
        "--logical-devices",
        type=click.IntRange(0, 64),
        default=0,
        metavar="N",
        help="Split each GPU (without a GPU: the CPU) into N logical devices, and train on all of them.",
    ),
    click.option(
        "--log-device-placement", is_flag=True, help="Print TensorFlow's log of where each operation ran, on standard error."
    ),
)


def request_options(*, level: Level = Level.DEFAULT, expect: bool = True) -> Callable[[Command], Command]:
    """Add the options that select what is examined to a command, which receives ``request``, a ``Request``.

    Args:
        level: the default level, without --quick, --full or, if the command has it, --default.
        expect: whether to add ``--expect``.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_request(**options: Any) -> Any:
            given = {name: options.pop(name, None) for name in REQUEST_OPTIONS}
            depth = _depth({name: bool(options.pop(name, False)) for name in DEPTHS})
            request = _request(level, depth=depth, **{**given, "expectations": merged(given["expectations"] or ())})
            click.get_current_context().obj.set(request.timeout_seconds)
            return command(request=request, **options)

        for option in reversed((*_OPTIONS, _EXPECT) if expect else _OPTIONS):
            with_request = option(with_request)
        return with_request

    return decorate


def _request(
    default: Level,
    *,
    depth: str | None,
    no_smoke: bool,
    timeout: float | None,
    strategies: tuple[str, ...],
    **options: Any,
) -> Request:
    if strategies and (no_smoke or depth == "quick"):
        # Options on the command line win over settings; two that contradict are an error.
        if not typed("strategies"):
            strategies = ()
        elif (no_smoke and typed("no_smoke")) or (depth == "quick" and typed("quick")):
            raise click.UsageError("--strategy requires training, which --quick and --no-smoke disable")
        else:
            no_smoke, depth = False, None if depth == "quick" else depth
    level = default if depth is None else Level[depth.upper()]
    return Request(
        level=level,
        smoke=not no_smoke,
        timeout_seconds=TIMEOUT_SECONDS[level] if timeout is None else timeout,
        strategies=strategies,
        **options,
    )


def merged(expectations: Sequence[Expectations]) -> Expectations | None:
    """Merge the expectations of several files.

    Raises:
        click.UsageError: two of them contradict each other.
    """
    if not expectations:
        return None
    from gpucheck.core.expectations.read import Contradiction, merge

    try:
        return functools.reduce(merge, expectations)
    except Contradiction as error:
        raise click.UsageError(f"two --expect files contradict each other: {error}") from None


def _depth(flags: dict[str, bool]) -> str | None:
    """Return the requested depth; the command line overrides settings."""
    requested = [name for name, flag in flags.items() if flag]
    explicit = [name for name in requested if typed(name)]
    if len(explicit) > 1:
        raise click.UsageError(f"{' and '.join(f'--{name}' for name in explicit)} select different depths, and can't be combined")
    return next(iter(explicit or requested), None)


def diagnose_here(
    request: Request,
    limit: TimeLimit,
    env: Mapping[str, str] | None = None,
    write_partial: Callable[[Report], Iterable[Write]] = lambda partial: (),
) -> Report:
    """Examine this machine.

    Args:
        request: the user's request.
        limit: the command's time limit.
        env: the environment to examine; None: this process' own.
        write_partial: writes the partial report if the command reaches its time limit.
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
def this_machine(
    request: Request, started: float, env: Mapping[str, str] | None = None, *, option: str = "python"
) -> Iterator[Host]:
    """Open this machine as a ``Host``; it is closed on exit.

    Args:
        request: the user's request.
        started: ``time.monotonic()`` at the command's start.
        env: the environment variables; None: those of this process.
        option: the option that selects the interpreter; "" if there is none.

    Raises:
        click.UsageError: the program to examine is not an interpreter, or was given as an option and did not respond.
        NoVerdict: the active environment's program is not an interpreter, or did not respond; that is not wrong usage.
    """
    from gpucheck.core.host import orphans
    from gpucheck.core.host.local import LocalHost

    if time_limit.enforced() is not None:  # in a separate process
        orphans.adopt()
    with LocalHost(request, env=env, started=started) as host:
        if request.python is not None:
            named = click.get_current_context().get_parameter_source(option) not in (None, ParameterSource.DEFAULT)
            if not named:
                installation.report(request.python)
            _verify_interpreter(host, request.python, named=named)
        yield host


def _verify_interpreter(host: Host, python: str, *, named: bool) -> None:
    """Verify that the examined interpreter can be described; ``named``: the user selected it. Raises like ``this_machine``."""
    try:
        answer = with_timeout(host.remaining(), host.interpreter)
        problem = answer if isinstance(answer, str) else None
    except NoResponse:
        problem = "no response within the time limit: it was stopped, or its file system did not respond"
    if problem is None:
        return
    text = f"{python} did not respond as a Python interpreter: {problem}"
    raise click.UsageError(text) if named else failure.NoVerdict(text)


def _show_placement(host: Host) -> None:
    """Print TensorFlow's own lines unchanged; if there are very many, the first and last, and how much is omitted."""
    from gpucheck.core.child.messages.frameworks import FrameworkTask
    from gpucheck.core.child.messages.workers import WorkerTask

    children = [("", child) for _, child in host.children(FrameworkTask)]
    for name, child in [*children, *((task.name, child) for task, child in host.children(WorkerTask))]:
        for line in child.log(PLACEMENT_LOG_BYTES).splitlines():
            if ("/job:" in line and "/device:" in line) or line.endswith(" bytes left out ..."):
                say(f"{name}: {line}" if name else line)
