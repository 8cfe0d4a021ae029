"""The notice that a shared report is redacted, and how to get the full report."""

from gpucheck.core.model import Report
from gpucheck.core.reports.redaction.walk import strings
from gpucheck.core.reports.redaction.words import ALIAS


def notice(report: Report) -> str | None:
    """Return the sentence, with commands in backticks; None if no alias is in the report."""
    if not any(ALIAS.search(text) for _, text in strings(report)):
        return None
    return (
        "Redacted for sharing: aliases such as `host-1` replace names, and a command with an alias can't be typed."
        " Your own page has the real names: `gpucheck --open`, or `--no-redact`."
    )
