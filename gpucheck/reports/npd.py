"""One line for node-problem-detector's custom plugin monitor, which cuts a message at 80 bytes: the verdict comes first.

Source: kubernetes/node-problem-detector, docs/custom_plugin_monitor.md (``max_output_length``).
"""

from gpucheck.model import Report, Verdict
from gpucheck.reports._headline import headline, roots
from gpucheck.reports._text import cut, line

LIMIT_BYTES = 80


def render(report: Report) -> str:
    """At most 80 bytes of UTF-8, the newline included: "FAIL gpu-lost: GPU 3 has fallen off the bus.\\n"."""
    code = f" {roots(report)[0].code}" if roots(report) and report.verdict is not Verdict.UNKNOWN else ""
    return cut(line(f"{report.verdict.value.upper()}{code}: {headline(report)}"), LIMIT_BYTES - 1) + "\n"
