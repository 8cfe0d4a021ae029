"""One line for node-problem-detector's custom plugin monitor, which cuts a message at 80 bytes: the verdict comes first.

Source: kubernetes/node-problem-detector, docs/custom_plugin_monitor.md (``max_output_length``).
"""

from gpucheck.core.model import Report, Severity
from gpucheck.core.reports.shared.findings import first_root
from gpucheck.core.reports.shared.headline import headline
from gpucheck.core.reports.shared.limited_text import cut, line

LIMIT_BYTES = 80


def render(report: Report) -> str:
    """Render at most 80 bytes of UTF-8 with the newline: "FAIL gpu-lost: GPU 3 has fallen off the bus. [power-cycle]\\n"."""
    return one_line(report, report.verdict.value.upper(), LIMIT_BYTES)


def one_line(report: Report, begin: str, limit: int) -> str:
    """Return at most ``limit`` bytes, including the newline: ``begin``, the first root cause's code, and the headline.

    It ends with the action that the cause requires before a new job may start: "[reset-gpu]".
    """
    root = first_root(report)
    action = None if root is None else root.action
    mark = f" [{action.value}]" if action is not None and action.severity is Severity.ERROR else ""
    words = begin if root is None else f"{begin} {root.code}"
    return cut(line(f"{words}: {headline(report)}"), limit - 1 - len(mark)) + mark + "\n"
