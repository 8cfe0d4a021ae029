"""Kubernetes' termination message: the kubelet keeps 4096 bytes of a container's /dev/termination-log.

Source: kubernetes.io, "Determine the Reason for Pod Failure".
"""

from gpucheck.core.model import Report, Verdict
from gpucheck.core.reports.shared.evidence import evidence
from gpucheck.core.reports.shared.findings import first_steps, followers, roots
from gpucheck.core.reports.shared.headline import headline
from gpucheck.core.reports.shared.limited_text import cut, fit, line

LIMIT_BYTES = 4096
MOST_EVIDENCE, LINE_BYTES = 3, 1024


def render(report: Report) -> str:
    """Render at most 4096 bytes of UTF-8, most severe first."""
    no_cause = report.verdict is Verdict.UNKNOWN or not roots(report)
    lines = [f"{report.verdict.value.upper()}: {headline(report)}"] if no_cause else []
    for root in roots(report):
        lines.append(f"{root.severity.value.upper()} {root.code} ({root.scope.value}): {root.summary}")
        lines += [f"  action: {root.action.value}"] if root.action is not None else []
        lines += [f"  do: {step}" for step in first_steps(root)]
        lines += [f"  saw: {evidence(item, report)}" for item in root.evidence[:MOST_EVIDENCE]]
        lines += [f"  also: {follower.code}" for follower in followers(report, root)]
    if report.verdict is Verdict.UNKNOWN:
        lines += [f"and: {reason}" for reason in report.unknown_because[1:]]
    indented = (("  " if entry.startswith("  ") else "") + line(entry) for entry in lines)
    return fit([cut(entry, LINE_BYTES) for entry in indented], LIMIT_BYTES)
