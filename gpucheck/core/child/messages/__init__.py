"""What a child process and its parent say to each other: the base of every message, and how it is encoded.

A child reports each stage of its work when it begins and when it ends, one JSON object per line:

    {"begin": "import", "job": "", "step": ""}
    {"end": "Imported", "job": "", "value": {"imported": true, ...}}

so that a crash, a hang or the OOM killer still tells how far it got. "begin" names the stage; "end" names the message, which is
a class of this package, and ``value`` holds its fields. ``job`` says which one, where there are several: a job id such as
"one_device GPU:0 float32", the number of a GPU, a file. ``step`` is a part of the stage that has no message of its own.

What a child is asked to do is a ``Task``: its module's name and, as one argument, the task's fields as JSON. While it works the
parent can send it more messages, one JSON object of the fields per line.

What a child finds out is declared here once: the struct that a message carries is the fact that the parent keeps. ``GpuRead``
carries a ``Gpu``, ``Trained`` a ``TrainingRun``.

The modules: ``nvml``, ``cuda``, ``drivers`` (what both have in common), ``files`` (device files, libraries), ``interpreter``,
``frameworks`` (what was imported, on which devices), ``training`` (jobs and experiments), ``workers``, ``benchmark``, ``cluster``
(Kubernetes). In a child they take the standard library alone, and run under Python 3.8 too (``struct``). The parent checks every
field's type when a message comes in (``gpucheck/core/host/inbox.py``).
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, TypeVar

from gpucheck.core.child.messages.struct import Struct, field


class Stage(NamedTuple):
    """A part of a child's work."""

    name: str  # "import", "train"
    job: str = ""  # which one of them; empty: there is only one
    step: str = ""  # a part of it: "first step"

    def __str__(self) -> str:
        """For display: "train one_device GPU:0 float32: first step"; "step 3" where there is only one job."""
        if self.step and not self.job:
            return self.step
        return " ".join(filter(None, (self.name, self.job))) + (f": {self.step}" if self.step else "")

    @property
    def whole(self) -> Stage:
        """The stage that a step is a part of."""
        return self._replace(step="")


class Message(Struct):
    """What a child reports at the end of a stage, or what the parent sends it."""

    stage: ClassVar[str] = ""  # its name; empty: a message from the parent


class Task(Struct):
    """What a child is asked to do."""

    child: ClassVar[str]  # the module gpucheck/core/child/<child>.py
    examined: ClassVar[bool] = False  # whether it runs as the user's own program would: their interpreter and environment
    report_bytes: ClassVar[int] = 4 << 20  # after which its report is not believed: it takes kilobytes


AnyMessage = TypeVar("AnyMessage", bound=Message)
AnyTask = TypeVar("AnyTask", bound=Task)


class Done(Message):
    """The last message of a child that came to its end."""

    stage: ClassVar[str] = "done"


class Crashed(Message):
    """An exception that no stage expected."""

    stage: ClassVar[str] = "crashed"
    type: str
    message: str


class Shadowed(Message):
    """The user's files that hide modules which a child needs, where they ended it. Written by ``boot.py``, without ``json``."""

    stage: ClassVar[str] = "shadows"
    files: dict[str, str] = field(default_factory=dict)  # module -> path of the file
