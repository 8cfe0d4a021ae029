"""What of a log is cuda-version-mismatch."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._loading import INSTALL, loading
from gpucheck.rules._log import cite, told
from gpucheck.rules._words import listing


def in_log(log: Log) -> Finding | None:
    """The program's own comparison; or it looks for the libraries of one CUDA where those of another are."""
    spoken = told(log, "cuda-version-mismatch")
    found = loading(log)
    if spoken:
        fields = spoken[0].fields
        library = fields.get("library", "CUDA")
        summary = f"{library} {fields['found']} is installed, and the program was built for {fields['built']}."
    elif found is not None and found.majors is not None:
        summary = (
            f"The program needs the libraries of CUDA {found.majors[0]} ({listing(found.sonames)}), and only those of"
            f" CUDA {found.majors[1]} are in sight."
        )
    elif found is not None and found.code == "cuda-version-mismatch":
        summary = "The CUDA libraries that are here are of another version than the program was built for."
    else:
        return None
    return Finding(
        summary=summary,
        evidence=cite(*(spoken or (found.events if found else ()))),
        fix=(
            INSTALL,
            Fix(text="Or install the toolkit of that CUDA major beside the other; several can stand side by side"),
            Fix(text="Or take a release of the program that was built for the CUDA that is here"),
        ),
        severity=None if spoken or (found and found.failed) else Severity.WARNING,
    )
