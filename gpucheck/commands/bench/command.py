"""The command ``bench``: measure how fast this machine trains."""

import errno
import os
from signal import SIGINT
from typing import Any

import click

from gpucheck.cli import time_limit
from gpucheck.cli.parameters import COLOR, SECONDS, Command, FilePath, PositiveNumber
from gpucheck.cli.request import PYTHON, STRATEGIES, this_machine
from gpucheck.cli.screen import UNWRITTEN, display_options, measurement_lines, output, progress_line, say, show
from gpucheck.cli.signals import interruptible
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.bench.figures import REPEATS_MIN
from gpucheck.commands.bench.model import FORMATS, Ask, Result
from gpucheck.core.model import Request
from gpucheck.core.model.kinds import PRECISIONS
from gpucheck.core.model.progress import Progress
from gpucheck.core.system import ulimits
from gpucheck.core.system.bounded import FILE_SECONDS, with_timeout
from gpucheck.core.system.ownership import is_ours, why_untrusted
from gpucheck.core.system.write import OutputFile

KEEP_RESULTS = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C; timeout(1), a job's time limit; a closed connection
DRAW_SECONDS = 30.0  # grace period after the timeout, to draw the plot
EXAMPLES = """\b
Examples:
  gpucheck bench                                 one device, then all of them
  gpucheck bench --devices 1 --devices 2 --devices 4 --plot scaling.png
  gpucheck bench --strategy one_device --precision float32 --precision mixed_float16 --batch-size 64 --batch-size 256
  gpucheck bench --target-accuracy 0.7 --data cifar10 --price-per-hour 2.50
  gpucheck bench --model train:make_model        your own network and data: a function of train.py in this folder
  gpucheck bench --profile trace                 where the time of a step goes: device, input, host
  gpucheck bench --allow-cpu --format json --output bench.json
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="NAME",
    type=click.Choice(STRATEGIES),
    help="Strategy to measure: one_device, mirrored or tpu. Other strategies are listed as not measured.",
)
@click.option(
    "--precision",
    "precisions",
    multiple=True,
    metavar="NAME",
    type=click.Choice(PRECISIONS),
    help=f"One of: {', '.join(PRECISIONS)}.  [default: float32]",
)
@click.option(
    "--batch-size",
    "batch_sizes",
    multiple=True,
    type=click.IntRange(1, 1 << 20),
    metavar="N",
    help="Batch size per replica. [default: 64, 8 on a CPU; with --model that of its data]",
)
@click.option(
    "--global-batch-size",
    "global_batch_sizes",
    multiple=True,
    type=click.IntRange(1, 1 << 30),
    metavar="N",
    help="Batch size of all replicas together: the same training on any number of devices (strong scaling).",
)
@click.option(
    "--steps-per-execution",
    multiple=True,
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Steps that run without returning to Python, as in Model.compile.  [default: 1]",
)
@click.option(
    "--devices",
    multiple=True,
    type=click.IntRange(1, 1024),
    metavar="N",
    help="Number of devices; may be repeated. [default: 1, then all]",
)
@click.option(
    "--xla", type=click.Choice(["on", "off", "both"]), default="off", show_default=True, help="Compile the steps with XLA."
)
@click.option(
    "--steps",
    type=click.IntRange(1, 1_000_000),
    metavar="N",
    help="Steps per epoch. [default: a pass over the data; synthetic and --model: 50, 10 on a CPU]",
)
@click.option(
    "--epochs",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="Epochs per run. [default: 1; with --target-accuracy at most 20]",
)
@click.option(
    "--repeats",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="Number of measured runs; at least 3.",
)
@click.option(
    "--price-per-hour",
    type=PositiveNumber(),
    metavar="P",
    help="Price of the whole machine, in any currency, to calculate the cost of an epoch.",
)
@click.option(
    "--target-accuracy",
    type=PositiveNumber(most=1.0),
    metavar="A",
    help="Train until this accuracy (0 to 1) on held-out samples; with synthetic data, on training samples.",
)
@click.option(
    "--data",
    default="synthetic",
    show_default=True,
    metavar="synthetic|cifar10|PATH.npz",
    help="Keras downloads cifar10; a file contains x (n, 32, 32, 3) and y (n,), classes 0 to 9. A tenth is held out.",
)
@click.option(
    "--model",
    metavar="MODULE:FUNCTION",
    help="Measure your own network: a function without arguments that returns a keras.Model, or (model, data), where data is a "
    "tf.data.Dataset or arrays (x, y).",
)
@click.option("--allow-cpu", is_flag=True, help="Without a GPU, measure the CPU, split into logical devices.")
@click.option("--timeout", type=SECONDS, default=600.0, show_default=True, help="Time limit; the results so far are shown.")
@PYTHON
@click.option("--format", "style", type=click.Choice(FORMATS), default="terminal", show_default=True)
@click.option(
    "--output", "target", type=FilePath(dir_okay=False), metavar="FILE", help="Write the result to this file, atomically."
)
@click.option("--plot", type=FilePath(dir_okay=False), metavar="FILE.png|svg", help="Draw a plot; requires the extra plot.")
@click.option(
    "--profile",
    type=FilePath(file_okay=False),
    metavar="DIR",
    help="Trace a few more steps, write the traces for TensorBoard to this folder, and summarize them.",
)
@COLOR
@click.pass_obj
def bench(
    limit: TimeLimit,
    /,
    timeout: float,
    python: str | None,
    style: str,
    target: str | None,
    plot: str | None,
    color: str,
    **options: Any,
) -> None:
    """Measure how fast this machine trains a small Keras network (or your own), and what limits the speed.

    Each configuration is warmed up (reported separately), then measured at least three times on the same data from the same
    weights; the result is the median, with minimum and maximum. Nothing is estimated. Ctrl-C and SIGTERM keep the
    results so far. Exit codes: 0 all measured, 1 a configuration failed or can't be measured, 2 wrong usage, 3 timed out or
    nothing to measure, 130 Ctrl-C, 143 SIGTERM.
    """
    limit.set(timeout, grace_seconds=DRAW_SECONDS)
    ask = _ask(options)
    kind = _plot_format(plot)
    if target and plot and os.path.realpath(target) == os.path.realpath(plot) != os.devnull:
        raise click.UsageError(f"the report and the plot would both be written to {plot}")
    with output(target, limit.end) as file, output(plot, limit.end) as picture:
        progress = Progress[Result]()
        limit.write_partial(progress, lambda partial: [lambda: _write(partial, style, color, file, target)])
        request = Request(timeout_seconds=timeout, python=python, allow_cpu=ask.allow_cpu)
        result, number = _measure(request, ask, limit, progress)
        try:
            exit_code = _write(result, style, color, file, target, number)
        finally:  # also if writing the report failed
            if picture is not None:
                _draw(result, kind, picture)
    raise SystemExit(exit_code)


def _ask(options: dict[str, Any]) -> Ask:
    """Return the request, after the checks that do not need the devices."""
    if options["repeats"] < REPEATS_MIN:
        raise click.UsageError(f"--repeats {options['repeats']}: a median needs at least {REPEATS_MIN} measured runs")
    data = options["data"]
    if options["model"] is not None:
        _check_model(options["model"], data)
    if data not in ("synthetic", "cifar10"):
        if not data.endswith(".npz"):
            raise click.UsageError(f"--data {data}: expected synthetic, cifar10 or a file that ends in .npz")
        try:
            with_timeout(FILE_SECONDS, lambda: open(data, "rb").close())
        except OSError as error:
            raise click.UsageError(f"--data: cannot read {data}: {error.strerror or error}") from None
        options["data"] = os.path.abspath(data)
    if options["profile"] is not None:
        options["profile"] = os.path.abspath(options["profile"])
        try:
            with_timeout(FILE_SECONDS, os.makedirs, options["profile"], 0o777, True)
        except OSError as error:
            raise click.UsageError(f"--profile: cannot create {options['profile']}: {error.strerror or error}") from None
    if options["batch_sizes"] and options["global_batch_sizes"]:
        raise click.UsageError("--batch-size is per replica, --global-batch-size for all together: use only one of them")
    for name in ("strategies", "precisions", "batch_sizes", "global_batch_sizes", "steps_per_execution"):
        options[name] = tuple(dict.fromkeys(options[name]))
    return Ask(**{name: value for name, value in options.items() if value is not None})


def _check_model(name: str, data: str) -> None:
    """Check the form of MODULE:FUNCTION, and that no other user could have written the module's files in this folder."""
    module, colon, function = name.partition(":")
    parts = module.split(".")
    if not colon or not all(part.isidentifier() for part in (*parts, function)):
        raise click.UsageError(f"--model {name}: expected MODULE:FUNCTION, for example train:make_model for train.py")
    if data != "synthetic":
        raise click.UsageError("--data is for gpucheck's own network: with --model, the function returns the data")
    for count in range(1, len(parts) + 1):
        base = os.path.join(*parts[:count])
        for path in (f"{base}.py", os.path.join(base, "__init__.py")):
            try:
                reason = with_timeout(FILE_SECONDS, why_untrusted, path)
            except OSError:  # no such file
                continue
            if reason is None and not is_ours(os.curdir):  # a folder such as /tmp, from which the child does not import
                reason = "other users can write to the current folder"
            if reason is not None:
                raise click.UsageError(f"--model {name}: {path} is not imported: {reason}")


def _plot_format(plot: str | None) -> str:
    """Return the plot's format by its suffix, and check before measuring that it can be drawn."""
    if plot is None:
        return ""
    from gpucheck.commands.bench.plot import KINDS, missing

    kind = os.path.splitext(plot)[1].lower()
    if kind not in KINDS:
        raise click.UsageError(f"--plot {plot}: the name must end in {' or '.join(KINDS)}")
    if (problem := missing()) is not None:
        raise click.UsageError(f"--plot: {problem}")
    return kind


def _measure(request: Request, ask: Ask, limit: TimeLimit, progress: Progress[Result]) -> tuple[Result, int]:
    from gpucheck.commands.bench.measure import bench as measure
    from gpucheck.commands.bench.plan import Refused

    if (problem := ulimits.open_files_problem()) is not None:
        raise OSError(errno.EMFILE, problem)
    received: list[int] = []
    try:  # the progress line is removed before a message is printed
        with this_machine(request, limit.started) as host, progress_line(host) as tick, interruptible(*KEEP_RESULTS) as received:
            return measure(host, ask, tick or measurement_lines(host), progress), next(iter(received), SIGINT)
    except KeyboardInterrupt:
        raise SystemExit(128 + next(iter(received), SIGINT)) from None
    except Refused as refused:
        if refused.exit_code == 2:
            raise click.UsageError(str(refused)) from None
        say(f"gpucheck: {refused}")
        raise SystemExit(refused.exit_code) from None


def exit_code_of(result: Result, number: int = SIGINT) -> int:
    """Return the exit code: 0 if everything was measured, 1 if something was not, 3 if timed out, 128 + the signal's number."""
    if result.ended != "finished":
        return 128 + number if result.ended == "interrupted" else 3
    return 0 if all(measurement.status == "measured" for measurement in result.measurements) else 1


def _write(result: Result, style: str, color: str, file: OutputFile | None, target: str | None, number: int = SIGINT) -> int:
    """Write the report and return the exit code. If the file can't be written, write to standard output instead."""
    from gpucheck.commands.bench import report

    exit_code = exit_code_of(result, number)
    if file is not None:
        time_limit.lock(file)
        try:
            file.commit(report.render(result, style, width=100, color=False, ascii=False))
            return exit_code
        except OSError as error:
            say(f"gpucheck: cannot write {target}: {error.strerror or error}; writing to standard output instead")
            exit_code = UNWRITTEN
    show(report.render(result, style, **display_options(color)), exit_code)
    return exit_code


def _draw(result: Result, kind: str, picture: OutputFile) -> None:
    from gpucheck.commands.bench.plot import draw

    drawn = draw(result, kind)
    if drawn is None:
        say("gpucheck: nothing was measured, so no plot was drawn")
    else:
        picture.commit(drawn)
