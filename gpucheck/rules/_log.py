"""What rules that judge a pasted log share: the events that still stand, and how a line is cited."""

from gpucheck.model import Evidence, Fix, Severity, saw
from gpucheck.probes.log import Event, Log
from gpucheck.rules._training import standing

# What a note may hold beside its words without a program having failed in it.
_BESIDE_WORDS = {
    "stated",
    "architecture",
    "cuda-toolkit",
    "cudnn-failed",
    "driver-version",
    "os-named",
    "python-named",
    "tensorflow-named",
    "gpu-named",
    "gpu-on-bus",
    "gpu-unseen",
    "gpus-listed",
    "macos",
    "program-started",
    "keras-backend-other",
    "mig-shown",
    "nccl-ready",
    "own-file",
    "traceback",
    "uses-tpu",
    "windows",
    "wsl-inside",
}


def told(log: Log, *kinds: str) -> list[Event]:
    """The events of these kinds, in order, that no later success withdraws."""
    return [event for _, event in standing(log, *kinds)]


def stated(log: Log, *codes: str) -> list[Event]:
    """Where a text states one of these causes in words, before any other one; nothing where a program's own message is left."""
    spoken = [event for event in log.events if event.kind == "stated"]
    if not spoken or spoken[0].fields["cause"] not in codes or any(event.kind not in _BESIDE_WORDS for event in log.events):
        return []
    return [event for event in spoken if event.fields["cause"] in codes]


def weight(told: list[Event]) -> Severity | None:
    """A warning for what a text only states in words; None, the rule's own severity, for what a program said."""
    return Severity.WARNING if all(event.kind == "stated" for event in told) else None


def cite(*events: Event, most: int = 4) -> tuple[Evidence, ...]:
    """The lines a judgement rests on, the first few of them."""
    return tuple(Evidence(fact="log", field=f"line {event.line}", value=event.text) for event in events[:most])


def events(log: Log | None, *kinds: str) -> tuple[Evidence, ...]:
    """Every line of these kinds, withdrawn or not: what a finding of this machine cites besides."""
    if log is None:
        return ()
    return tuple(
        item for place, event in enumerate(log.events) if event.kind in kinds for item in saw(log, f"events[{place}].text")
    )


def field(events: list[Event], name: str) -> str | None:
    """The first value that any of the events has for a field."""
    return next((event.fields[name] for event in events if event.fields.get(name)), None)


def clash(event: Event) -> str:
    """What pip says of two packages that do not fit: 'tensorflow 2.10.0 needs protobuf<3.20, and pip installed protobuf 4.25.3'."""
    fields = event.fields
    package = " ".join(fields[name] for name in ("package", "version") if name in fields)
    return f"{package} needs {fields['needs']}, and pip installed {fields['found']}"


def fitting(log: Log, *fixes: Fix) -> tuple[Fix, ...]:
    """The fixes, those for PyTorch first where the log is one of PyTorch's."""
    torch = any("torch" in event.text.lower() for event in log.events)
    return tuple(sorted(fixes, key=lambda fix: torch and "PyTorch" not in fix.text))
