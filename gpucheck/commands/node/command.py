"""The command ``node``: check the machine itself, independent of installed software and users."""

import os
import platform
from typing import Any

import click

from gpucheck.cli.delivery import delivery
from gpucheck.cli.exit_styles import EXIT_STYLES, exit_code
from gpucheck.cli.formats import NODE_STYLES, Outputs, report_options
from gpucheck.cli.parameters import SECONDS, Command, typed
from gpucheck.cli.request import diagnose_here, expect_option, merged, set_limit
from gpucheck.cli.screen import Unwritable, say, show
from gpucheck.cli.time_limit import TimeLimit
from gpucheck.core.model import TIMEOUT_SECONDS, Expectations, Level, PromisedGpus, Report, Request, Verdict

CONFIGURATION_BYTES = 1 << 24
REASON_BYTES = 200  # maximum size of the line for Slurm
# Variables that limit a job to some of the node's GPUs, or connect it to a user's MPS server.
OF_JOBS = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_MPS_")
EXAMPLES = """\b
Examples:
  gpucheck node                                  is this machine itself healthy?
  gpucheck node --gres 8                         and does it have all 8 GPUs?
  gpucheck node --expect /etc/gpucheck/node.toml
  gpucheck snapshot --node node.toml             on a known-good node: writes that file
  gpucheck recipe slurm/prolog.sh                     a script that drains a node with --drain-reason
"""


class Gres(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number of GPUs, or the scheduler that provides it."""

    name = "gres"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Fail for anything else."""
        text = str(value)
        if text not in ("slurm", "kubernetes") and not (text.isascii() and text.isdigit() and int(text) <= 1024):
            self.fail(f"{text!r} is not a number of GPUs up to 1024, 'slurm' or 'kubernetes'", param, ctx)
        return text


@click.command(cls=Command, epilog=EXAMPLES)
@expect_option("Check that the node meets the expectations about GPUs and driver in a file; others are ignored. May be repeated.")
@click.option(
    "--gres",
    type=Gres(),
    metavar="N|slurm|kubernetes",
    help="Expected number of GPUs; fewer are a fault. A number, or read it from Slurm's Gres (slurm.conf) or from what the device"
    " plugin registered with the kubelet.  [default: slurm if slurmd starts it, none in a job's task]",
)
@click.option("--strict", is_flag=True, help="Treat warnings as faults.")
@click.option(
    "--timeout",
    type=SECONDS,
    default=TIMEOUT_SECONDS[Level.NODE],
    show_default=True,
    is_eager=True,
    callback=set_limit,
    help="Time limit for the whole run. With less than 7 s, a driver that does not respond gives no verdict.",
)
@report_options(NODE_STYLES)
@click.option(
    "--drain-reason",
    "reason",
    is_flag=True,
    help="Print one line if the node should be drained, else nothing. Without a verdict, the line goes to standard error.",
)
@click.pass_obj
def node(
    limit: TimeLimit,
    expectations: tuple[Expectations, ...],
    gres: str | None,
    strict: bool,
    timeout: float,
    outputs: Outputs,
    reason: bool,
) -> None:
    """Check the machine itself: driver, GPUs, buses, memory errors, the kernel log, device files, limits.

    No Python environment is checked, so a node without TensorFlow is healthy. Nothing is allocated on a GPU, and an error that
    a job causes is not a fault. A driver that does not respond is a fault. Settings (pyproject.toml, GPUCHECK_ variables) are
    not read. Exit codes: 0 healthy, 1 a fault, 2 wrong usage, 3 no verdict. With --exit-style slurm, 1 is a fault and everything
    else is 0, because Slurm drains a node for any other code of its Prolog. A script that acts on a fault must check for the line
    of --drain-reason on standard output, because Python itself exits with 1 if gpucheck is broken.
    """
    if reason and (typed("style") or outputs.target is not None):
        raise click.UsageError("--drain-reason prints one line; use --report FORMAT=FILE to also write a report")
    promised = _promised(gres)
    request = Request(
        level=Level.NODE,
        smoke=False,
        strict=strict,
        timeout_seconds=timeout,
        allow_cpu=promised is not None and not promised.count,
        expectations=merged(expectations),
        promised=promised,
    )
    limit.set(timeout)
    outputs = outputs._replace(style=None) if reason else outputs
    unwritable: Unwritable | None = None
    while True:
        try:
            code, fault = _check(request, limit, outputs, reason)
            break
        except Unwritable as error:  # raised before the check: a fault matters more than its report
            unwritable = unwritable or error
            target = outputs.target if outputs.target != error.path else None
            others = outputs._replace(target=target, reports=tuple(one for one in outputs.reports if one[1] != error.path))
            if others == outputs:
                raise
            outputs = others
    if unwritable is not None:
        if not fault:
            raise unwritable
        say(f"gpucheck: {unwritable.message}")
    raise SystemExit(code)


def _check(request: Request, limit: TimeLimit, outputs: Outputs, reason: bool) -> tuple[int, bool]:
    """Check, and write the requested outputs; return the exit code, and whether the node has a fault.

    Raises:
        Unwritable: a report's file can't be written; nothing was checked.
        SystemExit: a report of a node without a fault could not be written.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith(OF_JOBS)}
    code, fault = 0, False
    try:
        with delivery(outputs, limit) as files:
            report = diagnose_here(request, limit, env, files.write_partial)
            code, fault = exit_code(report, outputs.exit_style), report.effective_verdict == "fail"
            try:
                if reason:
                    _print_drain_reason(report, code, outputs.exit_style)
            finally:
                files.deliver(report, code)
    except SystemExit as error:
        if not fault or error.code != EXIT_STYLES[outputs.exit_style]["unknown"]:  # of a report that could not be written
            raise
    return code, fault


def _promised(gres: str | None) -> PromisedGpus | None:
    if gres is None and "SLURMD_NODENAME" in os.environ and "SLURM_PROCID" not in os.environ:
        gres = "slurm"  # a task of a job has SLURM_PROCID, and may see fewer GPUs than the node has (ConstrainDevices)
    if gres is None:
        return None
    from gpucheck.commands.node.gres import promised

    return promised(gres, os.environ, platform.node(), _text)


def _text(path: str) -> str | None:
    from gpucheck.core.system.read import Refused, read

    try:
        return read(path, CONFIGURATION_BYTES).decode(errors="replace")
    except Refused:
        return None


def _print_drain_reason(report: Report, code: int, exit_style: str) -> None:
    line = _reason_to_drain(report)
    if report.verdict is Verdict.UNKNOWN:
        say(line, nl=False)
    elif line:
        show(line, code, EXIT_STYLES[exit_style]["unknown"])


def _reason_to_drain(report: Report) -> str:
    """Return the line for Slurm's ``scontrol update reason=`` and ``sinfo -R``, empty for a healthy node.

    For example "gpucheck gpu-lost: GPU 3 at 0000:3b:00.0 no longer responds to its driver: GPU is lost. [power-cycle]".
    """
    from gpucheck.core.reports import npd

    if report.verdict is not Verdict.UNKNOWN and report.effective_verdict != "fail":
        return ""
    return npd.one_line(report, "gpucheck", REASON_BYTES).replace('"', "'")  # scontrol interprets quotes
