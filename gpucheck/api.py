"""gpucheck in Python: ``gpucheck.check()`` returns the report, ``gpucheck.require()`` raises with the root cause."""

import contextlib
import functools
import numbers
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Literal, TextIO, cast, get_args

import msgspec

from gpucheck.core.compat.keras import TRAINING_BACKENDS
from gpucheck.core.engine import discovery
from gpucheck.core.engine.pipeline import diagnose
from gpucheck.core.host.local import LocalHost
from gpucheck.core.model import (
    TIMEOUT_SECONDS,
    Assignment,
    Diagnosis,
    Expectations,
    Fix,
    Level,
    Operation,
    Report,
    Request,
    Verdict,
)
from gpucheck.core.probes.cuda import Cuda
from gpucheck.core.repairs.fixes import ALLOW_CPU
from gpucheck.core.reports.shared import progress_line
from gpucheck.core.system import integrity

Depth = Literal["quick", "default", "full"]


_IN_PYTHON = {  # the terminal's hint on an option -> the hint in Python
    "(use -v for details)": "(see report.outcomes)",
    "(--allow-cpu)": "(allow_cpu=True)",
    "(--no-smoke)": "(smoke=False)",
    "--quick": 'level="quick"',
    "more (-v)": "more (report.findings)",
    "gpucheck --allow-cpu": "gpucheck.check(allow_cpu=True)",
}

_AT_START = ("LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH")  # read once, before a script's first line
_NOT_REDACTED = "<small>Contains the names of this machine: clear this output before you share the notebook.</small>"


class Result(Report, frozen=True, kw_only=True):
    """A report that renders itself in a notebook."""

    @property
    def repairs(self) -> tuple[str, ...]:
        """The fix of each root cause, as Python code if a program can apply it itself."""
        return _repairs(self.findings)

    def __repr__(self) -> str:
        """Return one line; ``print`` shows the report."""
        causes = ", ".join(finding.code for finding in self.findings) or "no findings"
        return f"<gpucheck report: {self.verdict.value}, {causes}; print() shows it>"

    def __str__(self) -> str:
        """Return the report for a terminal of 100 columns."""
        from gpucheck.core.reports import terminal

        text = terminal.render(self, width=100, color=False, ascii=False, verbose=False)
        return functools.reduce(lambda text, words: text.replace(*words), _IN_PYTHON.items(), text)

    def _repr_html_(self) -> str:
        """Return the HTML page in an iframe, which separates its style from the notebook's."""
        import html

        try:
            from gpucheck.core.reports.html import render
        except ImportError:  # without the extra "html"
            return f"<pre>{html.escape(str(self))}</pre>"
        cpu = "gpucheck --allow-cpu"
        page = html.escape(render(self).replace(cpu, _IN_PYTHON[cpu]), quote=True)
        fit = "this.style.height = this.contentDocument.documentElement.scrollHeight + 'px'"
        style = "width:100%;height:40em;border:0;color-scheme:light"  # a notebook's page may be light on a dark system
        return f'<iframe srcdoc="{page}" style="{style}" onload="{fit}" title="gpucheck report"></iframe>{_NOT_REDACTED}'


class NotReady(RuntimeError):
    """This machine does not meet the requirements. The message is the root cause in one sentence, its code, and its fix.

    Attributes:
        report: the complete report.
        repairs: the fix of each root cause.
    """

    def __init__(self, message: str, report: Result) -> None:
        """Set the message and the report."""
        self.report, self.repairs = report, report.repairs
        step = self.repairs[:1] if report.verdict is Verdict.FAIL else ("See what was checked:\n    gpucheck -v",)
        super().__init__("\n".join([message, *step]))


def check(
    *,
    level: Depth = "default",
    backend: Literal["tensorflow", "jax", "torch"] | None = None,
    expect: str | os.PathLike[str] | None = None,
    logical_devices: int = 0,
    allow_cpu: bool = False,
    smoke: bool = True,
    strict: bool = False,
    timeout_seconds: float | None = None,
    python: str | None = None,
    strategies: str | Sequence[str] = (),
) -> Result:
    """Check this machine as ``gpucheck check`` does, in child processes: this process' own TensorFlow is not touched.

    Args:
        level: "quick", "default" or "full".
        backend: the Keras backend to test; None: the one that Keras uses here. With jax and torch, TensorFlow is not tested.
        expect: a file with the expectations of this machine; ``gpucheck snapshot`` writes one.
        logical_devices: split each GPU, or without one the CPU, into this number (at most 64), and train on all of them.
        allow_cpu: accept a machine without an accelerator.
        smoke: train on every device, unless ``level`` is "quick".
        strict: treat warnings as faults, too (``exit_code``).
        timeout_seconds: time limit of the whole call; None: 120, with "full" 300.
        python: another interpreter to examine.
        strategies: train only with these strategies; empty: all that apply.

    Returns:
        The report: ``verdict``, ``findings`` (root cause first), ``training``, ``facts`` and the rest of its schema.

    Raises:
        ValueError: an unknown level, backend or strategy, a strategy without training, a time that is not positive, an
            invalid number of devices, or an unreadable expectations file.
        RuntimeError: files of this installation of gpucheck are missing or incomplete.
    """
    if level not in get_args(Depth):
        raise ValueError(f"level must be one of {', '.join(get_args(Depth))}. Received: level={level!r}")
    depth = Level[level.upper()]
    if backend not in (None, *TRAINING_BACKENDS):
        raise ValueError(f"backend must be one of {', '.join(TRAINING_BACKENDS)}. Received: backend={backend!r}")
    limit = TIMEOUT_SECONDS[depth] if timeout_seconds is None else timeout_seconds
    if not isinstance(limit, numbers.Real) or not 0 < limit < float("inf"):
        raise ValueError(f"timeout_seconds must be a positive number. Received: timeout_seconds={timeout_seconds!r}")
    if not 0 <= logical_devices <= 64:
        raise ValueError(f"logical_devices must be a number from 0 to 64. Received: logical_devices={logical_devices!r}")
    strategies = (strategies,) if isinstance(strategies, str) else tuple(strategies)
    known = discovery.strategies()
    if not set(known).issuperset(strategies):
        raise ValueError(f"strategies must be some of {', '.join(known)}. Received: strategies={strategies!r}")
    if strategies and (depth is Level.QUICK or not smoke):
        raise ValueError(f'strategies require training: level="default" and smoke=True. Received: strategies={strategies!r}')
    started = time.monotonic()
    integrity.verify()
    request = Request(
        level=depth,
        backend=backend,
        expectations=None if expect is None else _expectations(os.fspath(expect)),
        logical_devices=logical_devices,
        allow_cpu=allow_cpu,
        smoke=smoke,
        strict=strict,
        timeout_seconds=limit,
        python=python,
        strategies=strategies,
    )
    with LocalHost(request, started=started) as host, _progress(host) as tick:
        return result(diagnose(host, started, tick))


def _progress(host: LocalHost) -> AbstractContextManager[Callable[[list[str]], None] | None]:
    """Return a progress line for notebooks; a script prints nothing."""
    if not progress_line.in_notebook():
        return contextlib.nullcontext()
    return progress_line.line(host, cast("TextIO", progress_line.NotebookLine()))


def _expectations(path: str) -> Expectations:
    """Read an expectations file. Raises ValueError with the line of an error."""
    from gpucheck.core.expectations.read import LARGEST_BYTES, Problem, parse
    from gpucheck.core.system.read import Refused, read

    try:
        return parse(read(path, LARGEST_BYTES).decode(), path)
    except (Refused, Problem, UnicodeDecodeError) as error:
        raise ValueError(str(error)) from None


def require(*, gpus: int = 1, memory_gib: float = 0.0, level: Depth = "quick", timeout_seconds: float | None = None) -> Result:
    """Raise unless this machine is ready to train on that many GPUs, for the first line of a training script.

    Args:
        gpus: how many GPUs must be available to this process through CUDA; 0: a CPU is enough.
        memory_gib: the minimum memory of each GPU.
        level: "quick", "default" or "full".
        timeout_seconds: time limit of the whole call; None: 120, with "full" 300.

    Returns:
        The report of a machine that is ready.

    Raises:
        NotReady: a fault, too few GPUs, too little memory, or no verdict.
        ValueError: an argument is not a number or negative, memory is required without a GPU, or as for ``check``.
    """
    check_requirements(gpus, memory_gib)
    report = check(level=level, allow_cpu=gpus == 0, timeout_seconds=timeout_seconds)
    if problem := unready(report, gpus, memory_gib):
        raise NotReady(problem, report)
    return report


def check_requirements(gpus: int, memory_gib: float) -> None:
    """Raise ValueError if the requirements are invalid."""
    if not isinstance(gpus, numbers.Integral) or isinstance(gpus, bool) or gpus < 0:
        raise ValueError(f"gpus must be a number of GPUs, 0 or more. Received: {gpus!r}")
    if not isinstance(memory_gib, numbers.Real) or not memory_gib >= 0 or (memory_gib and not gpus):
        raise ValueError(
            f"memory_gib must be a number of GiB for each of one or more GPUs. Received: gpus={gpus!r}, memory_gib={memory_gib!r}"
        )


def unready(report: Report, gpus: int, memory_gib: float) -> str | None:
    """Return why a report does not meet the requirements, in one sentence; None if it does."""
    if report.verdict is Verdict.FAIL:
        return f"{report.findings[0].summary} [{report.findings[0].code}]"
    if report.verdict is Verdict.UNKNOWN:
        return f"no verdict: {'; '.join(report.unknown_because)}"
    cuda = report.fact(Cuda)
    devices = cuda.devices if cuda else ()
    if len(devices) < gpus:
        return f"{gpus} GPUs are required, but CUDA lists {len(devices)} for this process"
    for device in devices[:gpus]:
        has = (device.memory_total_bytes or 0) / 2**30
        if has < memory_gib:
            return f"{memory_gib:g} GiB per GPU is required, but {device.name} has {has:.1f}"
    return None


def result(report: Report) -> Result:
    """Return the report as a ``Result``."""
    return Result(**msgspec.structs.asdict(report))


def _repairs(findings: Iterable[Diagnosis]) -> tuple[str, ...]:
    """Return the first fix of each root cause, in the findings' order: the text, then the commands, indented."""
    return tuple(
        _repair(finding) for finding in findings if finding.explained_by is None and finding.muted is None and finding.fix
    )


def _repair(finding: Diagnosis) -> str:
    fix = finding.fix[0]
    if fix.command is None and any(other.command == ALLOW_CPU.command for other in finding.fix):
        return f"{_first(finding, fix)}\nOr train on the CPU:\n    gpucheck.require(gpus=0)"
    return _first(finding, fix)


def _first(finding: Diagnosis, fix: Fix) -> str:
    lines = list(_statements(finding))
    if lines:
        return "\n".join([f"{fix.text}, before TensorFlow is imported:", "    import os", *(f"    {line}" for line in lines)])
    if fix.command == ALLOW_CPU.command:
        return f"{fix.text}:\n    gpucheck.require(gpus=0)"
    if fix.command is None:
        return f"{fix.text}."
    return f"{fix.text}, {_place(fix, finding.assignments)}:\n    {fix.command}"


def _place(fix: Fix, assignments: tuple[Assignment, ...]) -> str:
    late = any(assignment.variable in _AT_START for assignment in assignments) or "export " in (fix.command or "")
    return "in a shell, before Python starts" if late else "in a shell"


def _statements(finding: Diagnosis) -> Iterator[str]:
    """Yield the assignments that fix it, if a running program can still make them."""
    made = [assignment for assignment in finding.assignments if assignment.apply]
    if any(assignment.variable in _AT_START or assignment.operation is Operation.PREPEND for assignment in made):
        return
    for assignment in made:
        if assignment.operation is Operation.UNSET:
            yield f"os.environ.pop({assignment.variable!r}, None)"
        else:
            yield f"os.environ[{assignment.variable!r}] = {assignment.value!r}"
