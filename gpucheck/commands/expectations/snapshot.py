"""The command ``snapshot``: write a known-good machine's state as an expectations file, with the measured values in comments."""

from collections.abc import Iterable, Iterator
from typing import Any

import click
import msgspec

from gpucheck.cli.parameters import COLOR, Command, FilePath
from gpucheck.cli.request import diagnose_here, request_options
from gpucheck.cli.screen import display_options, output, say, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.commands.expectations.tracked import PER_JOB
from gpucheck.core.expectations import FORMAT_VERSION, SPEED_TOLERANCE, steady, toml
from gpucheck.core.expectations.gpus import GIB, usable_gpus
from gpucheck.core.expectations.items import Machine
from gpucheck.core.expectations.training import is_default_compilation
from gpucheck.core.expectations.versions import ABSENT, versions_seen
from gpucheck.core.model import (
    Expectations,
    GpuExpectations,
    Level,
    Report,
    Request,
    Severity,
    TrainingExpectations,
    TrainingRun,
    Verdict,
    VersionExpectations,
)
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.gpus import Gpus
from gpucheck.core.system.shells import word

# A first step compiles and autotunes on shared processors, so it varies more than later steps. Its limit detects steps that
# take minutes because kernels for this GPU are missing and are compiled one by one.
START_FACTOR = 5
START_SECONDS_MIN = 30.0

EXAMPLES = """\b
Examples:
  gpucheck snapshot expected.toml            on a machine that is known to be good
  gpucheck --expect expected.toml            on every machine that should match it
  gpucheck compare expected.toml             what differs here
"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("file", type=FilePath(dir_okay=False, allow_dash=True))
@request_options(expect=False)
@click.option("--node", is_flag=True, help="Check only the machine itself, like `gpucheck node`.")
@click.option("--force", is_flag=True, help="Write the file even if this machine has a fault or no verdict.")
@COLOR
@click.pass_obj
def snapshot(limit: TimeLimit, request: Request, file: str, force: bool, color: str) -> None:
    """Check this machine, and write its state to FILE as expectations ("-": standard output).

    Nothing is written for a machine with a fault (exit code 1) or without a verdict (3).
    """
    with output(file, limit.end) as target:
        report = diagnose_here(request, limit, write_partial=lambda partial: [lambda: _print_refusal(partial, file, color)])
        if report.verdict not in (Verdict.PASS, Verdict.WARN) and not force:
            _print_refusal(report, file, color)
            raise SystemExit(report.exit_code or 1)
        text = render(expectations(report), report)
        if target is not None:
            target.commit(text)
            say(f"gpucheck: wrote {file}")
        else:
            show(text)


def _print_refusal(report: Report, file: str, color: str) -> None:
    from gpucheck.core.reports import terminal

    text = terminal.render(report, verbose=False, **display_options(color))
    say(text.replace("gpucheck --allow-cpu", f"gpucheck snapshot --allow-cpu {word(file)}"), nl=False)
    say("gpucheck: nothing was written: this is not a known-good machine (use --force to write anyway)")


def expectations(report: Report) -> Expectations:
    """Return expectations that this machine meets, with its passed training jobs and its warnings."""
    machine = Machine.of(report)
    count, _ = usable_gpus(machine)
    return Expectations(
        gpu=_gpus(machine, count),
        versions=VersionExpectations(**{name: f"=={version}" for name, version in _versions(machine).items()}),
        training=_training(report),
        allowed_warnings=tuple(sorted({finding.code for finding in report.findings if finding.severity is Severity.WARNING})),
    )


def _gpus(machine: Machine, count: int | None) -> GpuExpectations:
    gpus, cuda = machine.get(Gpus), machine.get(Cuda)
    items: tuple[Any, ...] = (gpus.gpus if gpus is not None else ()) or (cuda.devices if cuda is not None else ())
    sizes = [item.memory_total_bytes for item in items if item.memory_total_bytes]
    capabilities = [item.compute_capability for item in items if item.compute_capability]
    return GpuExpectations(
        count=count,
        names=tuple(dict.fromkeys(item.name for item in items if item.name)),
        memory_gib=min(sizes) * 10 // GIB / 10 if sizes else None,
        compute_capability=".".join(map(str, min(capabilities))) if capabilities else None,
    )


def _versions(machine: Machine) -> dict[str, str]:
    """Return the versions that are valid in a specifier."""
    from packaging.version import InvalidVersion, Version

    named = {}
    for name, text in versions_seen(machine).items():
        if text is None or text == ABSENT:
            continue
        try:
            Version(text)
        except InvalidVersion:
            continue
        named[name] = text
    return named


def _training(report: Report) -> TrainingExpectations:
    failed = {run.strategy for run in report.training if run.status not in ("passed", "skipped")}
    start = _slowest_start(report)
    minimum = {
        strategy: {precision: _significant(speed * (1 - SPEED_TOLERANCE)) for precision, speed in speeds.items()}
        for strategy, speeds in _slowest_speeds(report).items()
    }
    return TrainingExpectations(
        strategies=tuple(dict.fromkeys(run.strategy for run in _passed(report) if run.strategy not in failed)),
        max_first_step_seconds=None if start is None else max(START_SECONDS_MIN, _significant(start * START_FACTOR)),
        min_samples_per_second=minimum,
    )


def _passed(report: Report) -> list[TrainingRun]:
    return [run for run in report.training if run.status == "passed" and run.cross_device is None]


def _slowest_start(report: Report) -> float | None:
    """Return the seconds of the slowest first step."""
    starts = [run.first_step_seconds for run in _passed(report) if is_default_compilation(run)]
    return max((seconds for seconds in starts if seconds is not None), default=None)


def _slowest_speeds(report: Report) -> dict[str, dict[str, float]]:
    """Return the samples per second of the slowest device, by strategy and precision."""
    slowest: dict[str, dict[str, float]] = {}
    for run in _passed(report):
        if run.samples_per_second is not None and steady(run.devices) and is_default_compilation(run):
            speeds = slowest.setdefault(run.strategy, {})
            speeds[run.precision] = min(run.samples_per_second, speeds.get(run.precision, run.samples_per_second))
    return slowest


def _significant(number: float) -> float:
    return float(f"{number:.3g}")


def render(expected: Expectations, report: Report) -> str:
    """Render the file: each value with the measured one; unknown values are comments."""
    lines = [
        f"# State of this machine on {report.started_at}; gpucheck {report.tool.version} found: {report.verdict.value}.",
        "# Check this machine, or another that should match it: gpucheck --expect THIS-FILE",
        "# To drop an expectation, remove its line.",
        f"schema_version = {FORMAT_VERSION}",
        "",
        "# Warnings that do not fail a run with --strict" + ("; these were found." if expected.allowed_warnings else "."),
        f"allowed_warnings = {toml.value(expected.allowed_warnings)}",
        "",
        "[gpu]",
        *_lines(
            expected.gpu,
            {
                "count": "that this process can use",
                "names": 'every GPU is one of these; patterns such as "NVIDIA H*" are allowed',
                "memory_gib": "GiB, minimum for every GPU",
                "compute_capability": "minimum for every GPU",
            },
        ),
        "",
        "[versions]",
        '# PEP 440 specifiers; loosen those that may change: "==2.21.*", ">=580,<581".',
        *_lines(expected.versions, {"cuda": "the newest that the driver supports", "driver": "NVIDIA's"}),
        "",
        *_training_lines(expected.training, report),
        *_environment_lines(report),
        "# A known finding that does not affect the verdict, up to and including a day:",
        "# [[mute]]",
        '# code = "pcie-link-degraded"',
        '# reason = "riser ordered, ticket 4711"',
        "# until = 2030-12-31",
    ]
    return "\n".join(lines) + "\n"


def _environment_lines(report: Report) -> Iterator[str]:
    """Yield the variables as comments: only the user knows which ones must be equal on other machines."""
    environment = report.fact(Environment)
    set_here = environment.variables if environment else {}
    values: dict[str, str | bool] = {name: value for name, value in set_here.items() if name not in PER_JOB}
    yield "# Variables that must have exactly these values; false: not set."
    yield "# [environment]"
    yield from (f"# {name} = {toml.value(value)}" for name, value in (values or {"XLA_FLAGS": False}).items())
    yield ""


def _lines(part: msgspec.Struct, notes: dict[str, str]) -> Iterator[str]:
    for field in msgspec.structs.fields(part):
        value = getattr(part, field.name)
        note = f"  # {notes[field.name]}" if field.name in notes else ""
        if value is None or value == ():
            yield f"# {field.name}: unknown"
        else:
            yield f"{field.name} = {toml.value(value)}{note}"


def _training_lines(expected: TrainingExpectations, report: Report) -> Iterable[str]:
    yield "[training]"
    if not expected.strategies:
        request = report.fact(Request)
        yield f"# Nothing was trained in this run{' (--quick)' if request and request.level == Level.QUICK else ''}."
        yield ""
        return
    yield f"strategies = {toml.value(expected.strategies)}  # must pass"
    if (start := _slowest_start(report)) is not None:
        yield f"# The slowest first step took {start:.3g} s; {START_FACTOR} times as long is allowed, at least"
        yield f"# {START_SECONDS_MIN:g} s, because it compiles."
        yield f"max_first_step_seconds = {toml.value(expected.max_first_step_seconds)}"
    yield ""
    if expected.min_samples_per_second:
        yield f"# {1 - SPEED_TOLERANCE:.0%} of the slowest device's measured samples per second: such a short run detects"
        yield "# faults, not small slowdowns, and a higher bound would fail a healthy machine that is busy."
        yield "[training.min_samples_per_second]"
    for strategy, speeds in _slowest_speeds(report).items():
        measured = ", ".join(f"{speed:,.4g} in {precision}" for precision, speed in speeds.items())
        yield f"{toml.key(strategy)} = {toml.value(expected.min_samples_per_second[strategy])}  # measured: {measured}"
    on_cpu = [f"{run.samples_per_second:,.4g} in {run.precision} on {devices(run.devices)}" for run in _on_cpu(report)]
    if on_cpu:
        yield f"# No speed is expected of a CPU, because it depends on other processes. Measured: {', '.join(on_cpu)}."
    yield ""


def _on_cpu(report: Report) -> list[TrainingRun]:
    """Return one CPU job per precision that trained alone, whose speed is only written as a comment."""
    jobs = {
        run.precision: run
        for run in reversed(report.training)
        if (run.strategy, run.status, run.trained_with) == ("one_device", "passed", 0) and is_default_compilation(run)
    }
    return [run for run in jobs.values() if run.samples_per_second is not None and not steady(run.devices)]
