"""Kubernetes' termination message: the kubelet keeps 4096 bytes of a container's /dev/termination-log.

Source: kubernetes.io, "Determine the Reason for Pod Failure".
"""

from gpucheck.model import Report, Verdict
from gpucheck.reports._headline import followers, headline, roots
from gpucheck.reports._text import cut, fit, line
from gpucheck.reports._words import evidence

LIMIT_BYTES = 4096
MOST_EVIDENCE, LINE_BYTES = 3, 1024


def render(report: Report) -> str:
    """At most 4096 bytes of UTF-8, most severe first."""
    found = roots(report)
    lines = [] if found and report.verdict is not Verdict.UNKNOWN else [f"{report.verdict.value.upper()}: {headline(report)}"]
    for root in found:
        lines.append(f"{root.severity.value.upper()} {root.code} ({root.scope.value}): {root.summary}")
        lines += [f"  do: {fix.command or fix.text}" for fix in root.fix[:1]]
        lines += [f"  saw: {evidence(item, report.facts)}" for item in root.evidence[:MOST_EVIDENCE]]
        lines += [f"  also: {follower.code}" for follower in followers(report, root)]
    if report.verdict is Verdict.UNKNOWN:
        lines += [f"and: {reason}" for reason in report.unknown_because[1:]]
    indented = (("  " if entry.startswith("  ") else "") + line(entry) for entry in lines)
    return fit([cut(entry, LINE_BYTES) for entry in indented], LIMIT_BYTES)
