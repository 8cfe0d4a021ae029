"""One line for node-problem-detector's custom plugin monitor, which cuts a message at 80 bytes: the verdict comes first.

Source: kubernetes/node-problem-detector, docs/custom_plugin_monitor.md (``max_output_length``).
"""

from gpucheck.core.model import Report
from gpucheck.core.reports.shared.findings import action_mark, root_code
from gpucheck.core.reports.shared.headline import headline
from gpucheck.core.reports.shared.limited_text import cut, line

LIMIT_BYTES = 80


def render(report: Report) -> str:
    """At most 80 bytes of UTF-8, the newline included: "FAIL gpu-lost: GPU 3 has fallen off the bus. [power-cycle]\\n"."""
    verdict = " ".join(filter(None, (report.verdict.value.upper(), root_code(report))))
    mark = action_mark(report)
    return cut(line(f"{verdict}: {headline(report)}"), LIMIT_BYTES - 1 - len(mark)) + mark + "\n"
