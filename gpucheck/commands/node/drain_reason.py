"""One line that says why a node is drained, for Slurm's ``scontrol update reason=`` and ``sinfo -R``."""

from gpucheck.core.model import Report, Verdict
from gpucheck.core.reports.shared.findings import root_code
from gpucheck.core.reports.shared.headline import headline
from gpucheck.core.reports.shared.limited_text import cut, line

LIMIT_BYTES = 200


def render(report: Report) -> str:
    """ "gpucheck gpu-lost: GPU 3 at 0000:3b:00.0 no longer answers its driver: GPU is lost.\\n"; empty for a sound node."""
    if report.verdict is not Verdict.UNKNOWN and report.effective_verdict != "fail":
        return ""
    words = " ".join(filter(None, ("gpucheck", root_code(report))))
    text = line(f"{words}: {headline(report)}").replace('"', "'")  # scontrol takes quotes for its own
    return cut(text, LIMIT_BYTES - 1) + "\n"
