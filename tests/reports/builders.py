"""Reports of recorded machines with changes, and with findings of rules that exist only here."""

import time

import msgspec
from changes import apply
from fakes import machine, readings

from gpucheck.core.engine.judgement import Judgement
from gpucheck.core.engine.pipeline import assemble
from gpucheck.core.model import Finding, Outcome, Reading, Report, Scope, Severity, Status, Tool
from gpucheck.core.model.plugin import Row, Rule

ROWS = {
    "gpu-not-detected": Row(problem="GPU not detected", first_check="the driver", action="correct the environment"),
    "low-utilization": Row(problem="Low utilization", first_check="input pipeline", action="profile"),
}
PASSED = machine("h200")["training"]["runs"][0]
GARBAGE = "[red]H\x1b]0;pwned\x07200\x9b31m[/red]\u202e\udcff\r\n\x00 [bold"


def rule(code, severity=Severity.ERROR, scope=Scope.ENVIRONMENT, explains=(), row="gpu-not-detected", doc=""):
    return Rule(code, row, severity, scope, tuple(explains), (), lambda: None, doc)


def found(made, **finding):
    return Judgement(made, Outcome(code=made.code, status=Status.FOUND), Finding(**{"fix": (), "evidence": (), **finding}))


def others(status, count, reason=None, name="cause"):
    for number in range(count):
        made = rule(f"{name}-{number}")
        yield Judgement(made, Outcome(code=made.code, status=status, reason=reason), None)


def report(name, changes=(), judgements=(), *, seconds=6.8, late=None, request=None, clear=74) -> Report:
    """A machine with changes and findings; ``late`` maps probes to the reading's problem."""
    plain = apply(machine(name), tuple(changes))
    plain = {probe: fact for probe, fact in plain.items() if probe not in (late or {})}
    read = readings(plain)
    asked = request or next(item.fact for item in read if item.probe == "request")
    read = [msgspec.structs.replace(item, seconds=0.0417) for item in read if item.probe != "request"]
    for probe, (status, problem, spent) in (late or {}).items():
        read.append(Reading(probe=probe, status=status, problem=problem, seconds=spent))
    whole = assemble(asked, read, [*judgements, *others(Status.CLEAR, clear)], ROWS, time.monotonic())
    return msgspec.structs.replace(whole, seconds=seconds, started_at="2026-01-02T03:04:05Z", tool=Tool(version="0.1.0"))


def gpu(index, **changes):
    address = f"0000:{index:02x}:00.0"
    return {**machine("h200")["gpus"]["gpus"][0], "index": index, "minor": index, "pci_address": address, **changes}


def eight(*changes, runs, judgements=(), gpus=None):
    listed = [{"name": "CPU:0", "kind": "CPU"}, *({"name": f"GPU:{index}", "kind": "GPU"} for index in range(8))]
    return report(
        "h200",
        [
            ("gpus.gpus", gpus or [gpu(index) for index in range(8)]),
            ("driver.gpu_count", 8),
            ("cuda.device_count", 8),
            ("tensorflow.devices", listed),
            ("training.runs", runs),
            *changes,
        ],
        judgements,
        seconds=11.9,
    )


def with_garbage(report):
    """Insert strings that JSON can't represent (lone surrogates) into the facts."""

    def replace(value):
        if type(value) is str:
            return value.replace("replaced below", GARBAGE)
        if isinstance(value, dict):
            return {key: replace(entry) for key, entry in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(replace(entry) for entry in value)
        if isinstance(value, msgspec.Struct):
            return msgspec.structs.replace(value, **{name: replace(getattr(value, name)) for name in value.__struct_fields__})
        return value

    return replace(report)
