"""Find nodes with other results than nodes with the same GPU and software."""

import msgspec

from gpucheck.commands.fleet.names import fold
from gpucheck.commands.fleet.read import Cause, NodeReport
from gpucheck.core.model.checksums import Difference, describe, first_difference

CODE = "device-results-differ"
AGAIN = "gpucheck --soak 30"


def with_differing_results(reports: list[NodeReport]) -> list[NodeReport]:
    """Add a warning to each node whose results differ from the majority; without a majority, to all of them.

    It is not an error: a library may choose another kernel for one GPU of the same model.
    """
    causes: dict[str, Cause] = {}
    for setup in dict.fromkeys(report.setup for report in reports if report.setup):
        members = {report.node: report.checksums for report in reports if report.setup == setup}
        difference = first_difference(members)
        if difference is not None:
            causes.update(_causes(difference, setup[0]))
    return [_with(report, causes[report.node]) if report.node in causes else report for report in reports]


def _causes(difference: Difference, model: str) -> dict[str, Cause]:
    where, usual = f"first in {describe(difference.computation)}", fold(difference.usual)
    if difference.majority:
        summary = f"Its {model} gets other results than those of {usual} with the same software, {where}."
        return {node: Cause(CODE, "warning", "hardware", summary, AGAIN) for node in difference.odd}
    everyone = difference.odd + difference.usual
    summary = (
        f"The {model} of {fold(everyone)} get different results with the same software, {where};"
        " no majority shows which one is wrong."
    )
    return {node: Cause(CODE, "warning", "hardware", summary, AGAIN) for node in everyone}


def _with(report: NodeReport, cause: Cause) -> NodeReport:
    if any(known.code == CODE for known in report.causes):
        return report
    verdict = "warn" if report.verdict == "pass" else report.verdict
    return msgspec.structs.replace(report, verdict=verdict, causes=(*report.causes, cause))
