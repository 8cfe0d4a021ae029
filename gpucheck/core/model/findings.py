"""Findings of rules with their evidence and what fixes them, and diagnoses in a report."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import msgspec

from gpucheck.core.model.fact import Fact, probe_of
from gpucheck.core.model.kinds import Action, Scope, Severity, Status
from gpucheck.core.system.shells import Assignment

Need = Literal["sudo", "network", "reboot", "new shell"]
Change = Literal[
    "environment variables",
    "limits",
    "packages",
    "new environment",
    "files",
    "processes",
    "GPU",
    "system packages",
    "services",
    "kernel modules",
    "system settings",
    "machine",
]
_OF_COMMANDS: dict[Need, str] = {  # what a command needs by itself; each need, in the order of a report
    "sudo": r"\bsudo\b|dcgmi",
    "network": r"pip3? install|(?:apt-get|dnf|ubuntu-drivers) install|(?:docker|podman) run|\buv venv|conda create|wsl.* --\w+",
    "reboot": r"sudo reboot",
    "new shell": r"bin/activate",
}

# About this process, not about the machine: the first may cause any other error, the second causes none of a node
LIMIT, FOLDER = OF_PROCESS = ("process-limit-too-low", "temporary-folder-missing")


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """One observed value that supports a finding."""

    fact: str  # the probe's name
    field: str  # path inside the fact, such as ``gpus[3].memory_total_bytes``
    value: Any  # as in the fact


_SYSTEM = r"[A-Z]\w*(?:(?:,| or) [A-Z]\w*)*: "  # what a fix is for: "Ubuntu or Debian: "


class Fix(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a fix: as text, and as a command if one exists for this machine."""

    text: str
    command: str | None = None
    # A repair's command fixes the problem; a look's command only shows more; advice has no command.
    kind: Literal["repair", "look", "advice"] | None = None
    # What it requires, before or afterwards, to work: the declared needs, and those of the command itself.
    needs: tuple[Need, ...] = ()
    changes: tuple[Change, ...] = ()  # what the command changes, as far as it is known
    undo: str | None = None  # how to undo it: a command, or "open a new shell"; None: unknown, or impossible

    def __post_init__(self) -> None:
        """Treat a command as a repair, unless it is declared to only look.

        Raises:
            ValueError: it needs something that is not in the vocabulary.
        """
        if self.kind is None:
            msgspec.structs.force_setattr(self, "kind", "advice" if self.command is None else "repair")
        if unknown := [need for need in self.needs if need not in _OF_COMMANDS]:
            raise ValueError(f"unknown need of a fix: {', '.join(unknown)} (known: {', '.join(_OF_COMMANDS)})")
        if self.command is not None:
            needs = [need for need, words in _OF_COMMANDS.items() if need in self.needs or re.search(words, self.command)]
            msgspec.structs.force_setattr(self, "needs", tuple(needs))

    @classmethod
    def look(cls, text: str, command: str) -> "Fix":
        """Return a step whose command only shows more."""
        return cls(text=text, command=command, kind="look")

    def after(self, words: str) -> "Fix":
        """Return the fix with words before its text, as one sentence: ``fix.after("On the host:")``."""
        system = re.match(_SYSTEM, self.text)
        text = f"{words.rstrip(':')}, {self.text}" if system else f"{words} {self.text[0].lower()}{self.text[1:]}"
        return msgspec.structs.replace(self, text=text)


Fixes = Iterator[Fix]  # what to do, best first: the functions of a rule and of ``repairs`` yield them


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a rule that applies. The summary is one sentence with the values, for a reader who does not know CUDA."""

    summary: str
    evidence: tuple[Evidence, ...]
    fix: Iterable[Fix]  # best first; read once, when the finding is made
    affects: tuple[str, ...] = ()  # "GPU 3", "worker 1"; empty: the whole machine
    action: Action | None = None  # what to do with the hardware; it determines the severity
    severity: Severity | None = None  # None: that of the action, or the rule's own
    assignments: tuple[Assignment, ...] = ()  # environment variables that fix it, or may fix it
    not_explained_by: tuple[str, ...] = ()  # codes that usually explain it, but are ruled out by its own measurement

    def __post_init__(self) -> None:
        """Keep the fixes, and take the severity from the action.

        Raises:
            ValueError: it was given both, and they contradict each other.
        """
        msgspec.structs.force_setattr(self, "fix", tuple(self.fix))
        if self.action is None:
            return
        if self.severity not in (None, self.action.severity):
            raise ValueError(f"a finding with the action {self.action.value} is not of severity {self.severity}")
        msgspec.structs.force_setattr(self, "severity", self.action.severity)


class Skip(msgspec.Struct, frozen=True):
    """The result of a rule that could not decide."""

    reason: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one rule in a run."""

    code: str
    status: Status
    reason: str | None = None


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """A finding with all that a reader needs to act on it; ``explained_by`` is the code of its root cause."""

    code: str
    row: str
    severity: Severity
    scope: Scope
    summary: str
    evidence: tuple[Evidence, ...]
    first_check: str
    fix: tuple[Fix, ...]
    action: Action | None = None  # what to do with the hardware; None: the fault is not in the hardware
    affects: tuple[str, ...] = ()
    assignments: tuple[Assignment, ...] = ()  # environment variables that fix it, or may fix it
    explained_by: str | None = None
    muted: str | None = None  # "REASON until DATE": the verdict ignores it
    mute_expired: str | None = None  # "REASON until DATE": it was muted until then


def repairs_first(fixes: Iterable[Fix]) -> tuple[Fix, ...]:
    """Sort fixes: repairs in their order, then commands that only show more."""
    return tuple(sorted(fixes, key=lambda fix: fix.kind == "look"))


def saw(fact: Fact | None, *fields: str) -> tuple[Evidence, ...]:
    """Return evidence from fields of a probe's fact, none without a fact; dotted and indexed paths are followed.

    ``saw(gpus, "gpus[0].name")`` -> one piece of evidence. Raises AttributeError for an unknown field: a rule can only cite
    what was observed.
    """
    if fact is None:
        return ()
    probe = probe_of(type(fact))
    return tuple(Evidence(fact=probe, field=field, value=_follow(fact, field)) for field in fields)


def _follow(value: Any, path: str) -> Any:
    for part in path.replace("[", ".").replace("]", "").split("."):
        if part.isdigit() and isinstance(value, (list, tuple)):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value[part]
        else:
            value = getattr(value, part)
    return value
