"""What of a log is windows-native-unsupported."""

from gpucheck.compat.tensorflow import LAST_ON_WINDOWS
from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._form import form, unseen
from gpucheck.rules._log import cite, stated, weight
from gpucheck.rules._pip import refused
from gpucheck.rules._start import unserved


def in_log(log: Log) -> Finding | None:
    """TensorFlow's own word; else a Windows on which it has no GPU, and misses no library, or pip has none for it."""
    told = unserved(log, "windows-native") or stated(log, "windows-native-unsupported")
    windows, missed = unserved(log, "windows"), refused(log)
    # up to 2.10 it opened the libraries on Windows, and said which ones it missed
    tried = any(event.kind in ("library-missing", "library-opened", "gpu-ignored") for event in log.events)
    counted = [event for event in unserved(log, "gpus-listed", "cpu-build") if event.fields.get("count", "0") == "0"]
    answers = form(log)
    inside = answers.os == "wsl" or any(event.kind == "wsl-inside" for event in log.events)
    missing = [*counted, *unseen(log)]
    if told:
        lines = told
    elif missed is not None and missed.code == "windows-native-unsupported":
        lines = missed.events
    elif (
        windows and counted and not (tried or inside) and answers.after_windows is not False and "torch" not in counted[0].fields
    ):
        lines = [counted[0], windows[0]]
    elif answers.os == "windows" and answers.after_windows and missing and not tried and "torch" not in missing[0].fields:
        lines = [missing[0], *answers.events[:2]]
    else:
        return None
    trained = any(event.kind == "training-progress" for event in log.events)
    return Finding(
        summary=f"This is native Windows, where TensorFlow can use no GPU since release 2.11; {LAST_ON_WINDOWS} was the last that could.",
        evidence=cite(*lines),
        fix=(
            Fix(
                text="Install WSL2 from an administrator's prompt, restart, and install TensorFlow there", command="wsl --install"
            ),
            Fix(text="If training on the CPU is what you want, ignore it"),
        ),
        severity=Severity.WARNING if trained else weight(lines),
    )
