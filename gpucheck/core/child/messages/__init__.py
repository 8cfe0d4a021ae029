"""The messages between a child process and its parent: the base of every message, and the encoding.

A child reports each stage of its work when it begins and when it ends, one JSON object per line:

    {"begin": "import", "job": "", "step": ""}
    {"end": "Imported", "job": "", "value": {"imported": true, ...}}

so that the last stage is known after a crash, a hang or a kill. "begin" names the stage; "end" names the message, which is a
class of this package, and ``value`` holds its fields. ``job`` identifies one of several: a job id such as
"one_device GPU:0 float32", the number of a GPU, a file. ``step`` is a part of the stage without a message.

A ``Task`` starts a child: its module's name and, as one argument, the task's fields as JSON. The parent can send more messages
to a running child, one JSON object of the fields per line.

The results of a child are declared here once: the struct that a message carries is the fact that the parent keeps. ``GpuRead``
carries a ``Gpu``, ``Trained`` a ``TrainingRun``.

The modules: ``machine`` (the interpreter, device files, shared libraries), ``drivers`` (NVML and libcuda), ``frameworks``
(imports and devices), ``training`` (jobs and experiments), ``workers``, ``benchmark``, ``cluster`` (Kubernetes).
In a child they need only the standard library, and also run under Python 3.8 (``struct``). The parent checks every field's type
when it receives a message (``gpucheck/core/host/child.py``).
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, TypeVar

from gpucheck.core.child.messages.struct import Struct, field


class Stage(NamedTuple):
    """A part of a child's work."""

    name: str  # "import", "train"
    job: str = ""  # which of several; empty: there is only one
    step: str = ""  # a part of it: "first step"

    def __str__(self) -> str:
        """Return the text for display: "train one_device GPU:0 float32: first step"; "step 3" if there is only one job."""
        if self.step and not self.job:
            return self.step
        return " ".join(filter(None, (self.name, self.job))) + (f": {self.step}" if self.step else "")

    @property
    def parent(self) -> Stage:
        """The stage that a step is a part of."""
        return self._replace(step="")


class Message(Struct):
    """A child's report at the end of a stage, or a message from the parent."""

    stage: ClassVar[str] = ""  # the stage's name; empty: a message from the parent


class Task(Struct):
    """The work of a child."""

    child: ClassVar[str]  # the module gpucheck/core/<package>/<child>.py
    package: ClassVar[str] = "child"  # or "training"
    examined: ClassVar[bool] = False  # whether it runs like the user's program: with their interpreter and environment
    report_bytes: ClassVar[int] = 4 << 20  # maximum size of its report, which normally has kilobytes


AnyMessage = TypeVar("AnyMessage", bound=Message)
AnyTask = TypeVar("AnyTask", bound=Task)


class Done(Message):
    """The last message of a child that completed."""

    stage: ClassVar[str] = "done"


class Crashed(Message):
    """An exception that no stage handled."""

    stage: ClassVar[str] = "crashed"
    type: str
    message: str


class Shadowed(Message):
    """User files that shadow modules and made a child fail. Written by ``boot.py``, without ``json``."""

    stage: ClassVar[str] = "shadows"
    files: dict[str, str] = field(default_factory=dict)  # module -> path of the file
