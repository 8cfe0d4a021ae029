"""What the person who pasted a log says of the machine: in an issue's form, else in passing."""

from typing import NamedTuple

from gpucheck.compat.tensorflow import LAST_ON_WINDOWS
from gpucheck.compat.versions import parse
from gpucheck.probes.log import Event, Log


class Form(NamedTuple):
    """What is known of it; None: nothing, or several answers."""

    os: str | None  # "linux", "macos", "windows", "wsl"
    tensorflow: str | None  # version
    python: str | None  # version
    events: tuple[Event, ...]  # the lines that say so, at most one for each

    @property
    def after_windows(self) -> bool | None:
        """Whether TensorFlow is later than the last one with GPU support on native Windows; None: its version is not known."""
        return None if self.tensorflow is None else parse(self.tensorflow)[:2] > parse(LAST_ON_WINDOWS)


def form(log: Log) -> Form:
    """The answers of a form count before what is said in passing, and that only if it is all the same."""
    known = [_answer(log, name) for name in ("os", "tensorflow", "python")]
    os, tensorflow, python = (
        event.fields[name] if event else None for name, event in zip(("os", "tensorflow", "python"), known, strict=True)
    )
    return Form(os, tensorflow, python, tuple(event for event in known if event is not None))


def _answer(log: Log, name: str) -> Event | None:
    said = [event for event in log.events if event.kind == f"{name}-named"]
    answers = [event for event in said if event.fields["labelled"] == "yes"] or said
    return answers[0] if len({event.fields[name] for event in answers}) == 1 else None


def unseen(log: Log) -> list[Event]:
    """Where the person says that no GPU is found."""
    return [event for event in log.events if event.kind == "gpu-unseen" or event.fields.get("cause") == "no-nvidia-gpu"]
