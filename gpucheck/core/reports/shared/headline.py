"""The result of a run in one sentence."""

from gpucheck.core.compat.keras import TITLES
from gpucheck.core.model import Level, Report, Request, TrainingRun, Verdict
from gpucheck.core.model.naming import devices
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.reports.shared.findings import first_root, first_steps
from gpucheck.core.reports.shared.machine import gpu_count, gpu_names, of_node

CPU_ONLY = "the CPU only (--allow-cpu): no accelerator was found"


def headline(report: Report) -> str:
    """Return the most important sentence: the root cause, why there is no verdict, or what was verified."""
    if report.verdict is Verdict.UNKNOWN:
        return f"No verdict: {next(iter(report.unknown_because), 'no reason given')}"
    first = first_root(report)
    return first.summary if first is not None else verified(report)


def in_lines(report: Report, outcome: str, *, steps: bool = True) -> list[str]:
    """Return the result for another command: its outcome with the root cause, the commands to run, and the page.

    Args:
        report: report of the check.
        outcome: outcome of the command: "not started".
        steps: whether to include the commands to run.
    """
    first = first_root(report)
    code = f"{first.code}: " if first is not None else ""
    lines = [f"{outcome}: {code}{' '.join(headline(report).split())}"]
    if first is not None and steps:
        lines += [f"to fix it: {' '.join(step.split())}" for step in first_steps(first)]
        lines.append(f"more: gpucheck explain {first.code}")
    return lines


def verified(report: Report) -> str:
    """Return what a run without errors verified, and nothing more."""
    tpu = report.fact(Tpu)
    accelerator = bool(gpu_count(report) or (tpu and tpu.expected))
    if not report.training:
        return _verified_without_training(report, accelerator)
    passed = [run for run in report.training if run.status == "passed"]
    other = next((TITLES[run.backend] for run in passed if run.backend != "tensorflow"), None)
    how = ", ".join(dict.fromkeys(run.strategy for run in passed)) or "nothing"
    trained = sorted({name for run in passed for name in run.devices if not name.startswith("CPU")}, key=_numbered)
    if not trained:
        only = f"the CPU only: {gpu_names(report) or 'an accelerator'} was found, but not trained on" if accelerator else CPU_ONLY
        return f"Ready for {only}; {how} trained on the CPU{_by(other)}."
    return _verified_on_accelerators(report, passed, trained, how, other)


def _verified_without_training(report: Report, accelerator: bool) -> str:
    request = report.fact(Request) or Request()
    if of_node(report):
        return f"No fault found on this node: {gpu_names(report) or 'it has no GPU, and none is expected'}."
    scope = "" if accelerator else f", for {CPU_ONLY}"
    if request.level == Level.QUICK:
        framework = TITLES[request.backend or "tensorflow"]
        return f"No fault found by the quick checks{scope}; {framework} and training were not checked (--quick)."
    return f"No fault found{scope}; training was not checked" + ("." if request.smoke else " (--no-smoke).")


def _verified_on_accelerators(report: Report, passed: list[TrainingRun], trained: list[str], how: str, other: str | None) -> str:
    agree = ", replicas agree" if any(run.replicas > 1 and run.replicas_equal for run in passed) else ""
    names = gpu_names(report) or devices(trained)
    if gpu_count(report) > len(trained):
        return f"Ready on {len(trained)} of {names}: {devices(trained)} trained{_by(other)} ({how}){agree}."
    if other:
        return f"Ready: Keras on {other} trained on {'all of ' if len(trained) > 1 else ''}{names} ({how}){agree}."
    return f"Ready: {names}{', all' if len(trained) > 1 else ''} trained ({how}){agree}."


def _by(other: str | None) -> str:
    return f" by Keras on {other}" if other else ""


def _numbered(name: str) -> tuple[str, int]:
    kind, _, number = name.rpartition(":")
    return kind, int(number) if number.isdigit() else 0
