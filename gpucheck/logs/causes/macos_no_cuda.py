"""What of a log is macos-no-cuda."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._form import form, unseen
from gpucheck.rules._log import cite, stated, weight
from gpucheck.rules._pip import refused
from gpucheck.rules._start import unserved


def in_log(log: Log) -> Finding | None:
    """A Mac on which something asks for CUDA."""
    answers = form(log)
    mac, missed = unserved(log, "macos") or (answers.events[:1] if answers.os == "macos" else ()), refused(log)
    asked = unserved(log, "cpu-build", "cuinit-failed", "driver-absent", "gpus-listed", "cuda-drivers-not-found")
    asked = [event for event in asked if event.fields.get("count", "0") == "0"]
    if missed is not None and missed.code == "macos-no-cuda":
        asked = missed.events
    asked = asked or (unseen(log) if answers.os == "macos" else [])
    said = stated(log, "macos-no-cuda")
    if not said and (not mac or not asked or any("metal" in event.text.lower() for event in mac)):
        return None
    told = said or [mac[0], *asked]
    return Finding(
        summary="This is macOS, which has no CUDA, so no NVIDIA GPU can be used on it.",
        evidence=cite(*told),
        fix=(
            Fix(text="Train on a Linux machine with an NVIDIA GPU"),
            Fix(text="For the Mac's own GPU, install Apple's plug-in", command="python -m pip install tensorflow-metal"),
            Fix(text="If training on the CPU is what you want, ignore it"),
        ),
        severity=Severity.WARNING if any(event.kind == "training-progress" for event in log.events) else weight(told),
    )
