"""What of a log is cpu-quota-too-low."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite


def in_log(log: Log) -> Finding | None:
    """PyTorch counts the processors that it may use against the workers it was asked for."""
    told = [event for event in log.events if event.kind == "cpu-workers-excessive"]
    if not told:
        return None
    fields = told[0].fields
    return Finding(
        summary=f"The program asks for {fields['asked']} workers to load data, and this container or job may use"
        f" {fields['suggested']} processors.",
        evidence=cite(*told),
        fix=(
            Fix(text="Give the job more processors (docker run --cpus 8; Slurm: #SBATCH --cpus-per-task=8)"),
            Fix(text=f"Or start no more than {fields['suggested']} workers"),
        ),
    )
