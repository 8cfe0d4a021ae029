"""Judge a report again with the current rules, to answer a bug report without the machine."""

from msgspec.structs import replace

from gpucheck.core.engine.discovery import load_rows, load_rules
from gpucheck.core.engine.judgement import judge
from gpucheck.core.engine.pipeline import assemble, gather
from gpucheck.core.engine.recorded import Unreadable, load
from gpucheck.core.model import Expectations, Report

__all__ = ("Unreadable", "replay")


def replay(text: bytes, allow_cpu: bool = False, strict: bool = False, expectations: Expectations | None = None) -> Report:
    """Judge the facts of a report again.

    Args:
        text: a JSON report, see ``gpucheck.core.engine.recorded.load``.
        allow_cpu: the option --allow-cpu, in addition to the recorded request.
        strict: the option --strict, in addition to the recorded request.
        expectations: instead of those of the report.

    Returns:
        The report with current findings; ``started_at`` and ``seconds`` are those of the recorded run.

    Raises:
        Unreadable: not a report that this gpucheck can read.
    """
    recording = load(text)
    request = replace(
        recording.request,
        allow_cpu=recording.request.allow_cpu or allow_cpu,
        strict=recording.request.strict or strict,
        expectations=expectations or recording.request.expectations,
    )
    judgements = judge(gather(request, recording.readings), load_rules())
    report = assemble(request, recording.readings, judgements, load_rows(), started=0.0)
    return replace(report, started_at=recording.started_at, seconds=recording.seconds)
