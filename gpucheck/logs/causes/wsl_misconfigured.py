"""What of a log is wsl-misconfigured."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._log import cite, stated, weight
from gpucheck.rules._start import nvml, starts, unserved
from gpucheck.rules._words import short
from gpucheck.rules.gpu_not_detected.wsl_misconfigured import _WINDOWS


def in_log(log: Log) -> Finding | None:
    """What the driver's libraries and the container toolkit say of WSL."""
    named = any("wsl" in event.text.lower() for event in log.events)  # /dev/dxg is absent wherever there is no Windows, too
    told = [event for event in unserved(log, "wsl") if named or not event.fields.get("message", "").startswith("/dev/dxg")]
    inside = [event for event in log.events if event.kind == "wsl-inside"]
    refused = (starts(log) + nvml(log, "9", "12", "17")) if inside else []
    told = told or stated(log, "wsl-misconfigured")
    if not told and not refused:
        return None
    # without NVML programs train all the same
    watching = all(event.fields.get("library", "").startswith("libnvidia-ml") for event in told) and not refused
    why = told[0].fields.get("message", told[0].text) if told else refused[0].fields.get("message", refused[0].text)
    return Finding(
        summary=f"WSL gives no NVIDIA GPU: {short(why)}.",
        evidence=cite(*told, *refused[:2], *inside[:1]),
        fix=(
            Fix(text="See which WSL this is (it has to be version 2), from a Windows prompt", command="wsl.exe -l -v"),
            Fix(text="Update it, from a Windows prompt", command="wsl.exe --update"),
            _WINDOWS,
        ),
        severity=Severity.WARNING if watching else weight([*told, *refused]),
    )
