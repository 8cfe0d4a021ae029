"""What of a log is tensorflow-gpu-package-removed."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, told
from gpucheck.rules._pip import refused


def in_log(log: Log) -> Finding | None:
    """Its own notice, or pip's word that it has no such release."""
    notice, missed = told(log, "tensorflow-gpu-package"), refused(log)
    gone = missed is not None and missed.code == "tensorflow-gpu-package-removed"
    if not notice and not gone:
        return None
    if not notice and missed is not None and missed.asked:
        summary = f"There is no tensorflow-gpu{missed.asked}: the package was given up in 2022."
    else:
        summary = "The package tensorflow-gpu was given up in 2022 and can't be installed any more."
    return Finding(
        summary=summary,
        evidence=cite(*notice, *(missed.events if missed and gone else ())),
        fix=(
            Fix(
                text="Install tensorflow, which has the GPU code", command='python -m pip install "tensorflow[and-cuda]==2.20.*"'
            ),
            Fix(text="Write tensorflow instead of tensorflow-gpu in requirements.txt or setup.py"),
        ),
        severity=Severity.ERROR,
    )
