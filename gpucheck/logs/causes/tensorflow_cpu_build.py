"""What of a log is tensorflow-cpu-build."""

from gpucheck.compat import keras as tables
from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._commands import word
from gpucheck.rules._log import cite, stated
from gpucheck.rules._start import unserved


def in_log(log: Log) -> Finding | None:
    """The program's own word that its build has no GPU code."""
    told = unserved(log, "cpu-build") or stated(log, "tensorflow-cpu-build")
    if not told:
        return None
    fields = told[0].fields
    torch, jax = "torch" in told[0].text.lower(), fields.get("package") == "jaxlib"
    name = "PyTorch" if torch else "JAX" if jax else "TensorFlow"
    build = tables.CUDA_BUILDS["torch" if torch else "jax"] if torch or jax else ("tensorflow[and-cuda]==2.20.*",)
    install = " ".join(map(word, build))
    raised = any(event.kind == "traceback" and event.line >= told[0].line for event in log.events)
    return Finding(
        summary=f"The {name} that is installed was built without CUDA, so it can't use an NVIDIA GPU.",
        evidence=cite(*told),
        fix=(
            Fix(text="Install the build for NVIDIA GPUs (Linux)", command=f"python -m pip install {install}"),
            Fix(text="If the CPU is enough, ignore it"),
        ),
        severity=Severity.WARNING if (jax or told[0].kind == "stated") and not raised else None,
    )
