"""What of a log is replicas-diverged."""

from gpucheck.model import Finding, Fix
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, told
from gpucheck.rules._words import short


def in_log(log: Log) -> Finding | None:
    """A program that compared its replicas, and found them different."""
    differing = told(log, "replicas-diverged")
    if not differing:
        return None
    return Finding(
        summary=f"Replicas that must be alike are not: {short(differing[0].text)}.",
        evidence=cite(*differing),
        fix=(
            Fix(text="Build the same model on every replica: the same code, configuration, random seed and checkpoint"),
            Fix(text="Compare the libraries of the machines", command="python -m pip freeze | sort | sha256sum"),
            Fix(text="If they are the same, look at the links between the GPUs", command="nvidia-smi topo -m"),
        ),
    )
