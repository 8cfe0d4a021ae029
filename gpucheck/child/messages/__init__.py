"""What a child process and its parent say to each other: the base of every message, and how it is encoded.

A child reports each stage of its work when it begins and when it ends, one JSON object per line:

    {"begin": "import", "job": "", "step": ""}
    {"end": "Imported", "job": "", "value": {"imported": true, ...}}

so that a crash, a hang or the OOM killer still tells how far it got. "begin" names the stage; "end" names the message, which is
a dataclass of this package, and ``value`` holds its fields. ``job`` says which one, where there are several: a job id such as
"one_device GPU:0 float32", the number of a GPU, a file. ``step`` is a part of the stage that has no message of its own.

What a child is asked to do is a ``Task``: its module's name and, as one argument, the task's fields as JSON. While it works the
parent can send it more messages, one JSON object of the fields per line.

The modules: ``nvml``, ``cuda``, ``drivers`` (what both have in common), ``files`` (device files, libraries), ``interpreter``,
``frameworks`` (what was imported, on which devices), ``training`` (jobs and experiments), ``workers``, ``benchmark``, ``cluster``
(Kubernetes). They take the standard library alone, and run under Python 3.8 too. The parent checks every field's type when a
message comes in (``gpucheck/host/inbox.py``).
"""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

__all__ = [
    "AnyMessage",
    "AnyTask",
    "Crashed",
    "Done",
    "Message",
    "Shadowed",
    "Stage",
    "Task",
    "Values",
    "fields_of",
    "record",
]


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


if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(kind):
        """Make a class of fields a dataclass, whose methods are those of ``Values``."""
        return dataclass(init=False, repr=False, eq=False)(kind)


class Values:
    """What has fields. What ``dataclass`` would write for each of fifty classes is written here once: it takes the time of
    ``gpucheck --quick``.
    """

    if not TYPE_CHECKING:

        def __init__(self, *values, **named):
            """The fields, by position or by name; TypeError as for any function."""
            own = fields(self)
            if len(values) > len(own):
                raise TypeError(f"{type(self).__name__} has {len(own)} fields, not {len(values)}")
            given = {**dict(zip((field.name for field in own), values)), **named}
            for field in own:
                if field.name in given:
                    value = given.pop(field.name)
                elif field.default_factory is not MISSING:
                    value = field.default_factory()
                elif field.default is not MISSING:
                    value = field.default
                else:
                    raise TypeError(f"{type(self).__name__} needs {field.name}")
                setattr(self, field.name, value)
            if given:
                raise TypeError(f"{type(self).__name__} has no {', '.join(given)}")
            self.__post_init__()

        def __post_init__(self):
            """For a class whose fields come as JSON has them."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and fields_of(self) == fields_of(other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({fields_of(self)})"


@record
class Message(Values):
    """What a child reports at the end of a stage, or what the parent sends it."""

    stage: ClassVar[str] = ""  # its name; empty: a message from the parent


@record
class Task(Values):
    """What a child is asked to do."""

    child: ClassVar[str]  # the module gpucheck/child/<child>.py
    examined: ClassVar[bool] = False  # whether it runs as the user's own program would: their interpreter and environment
    report_bytes: ClassVar[int] = 4 << 20  # after which its report is not believed: it takes kilobytes


AnyMessage = TypeVar("AnyMessage", bound=Message)
AnyTask = TypeVar("AnyTask", bound=Task)


@record
class Done(Message):
    """The last message of a child that came to its end."""

    stage: ClassVar[str] = "done"


@record
class Crashed(Message):
    """An exception that no stage expected."""

    stage: ClassVar[str] = "crashed"
    type: str
    message: str


@record
class Shadowed(Message):
    """The user's files that hide modules which a child needs, where they ended it. Written by ``boot.py``, without ``json``."""

    stage: ClassVar[str] = "shadows"
    files: dict[str, str] = field(default_factory=dict)  # module -> path of the file


def fields_of(values: Values) -> dict[str, Any]:
    """The fields of a message, a task or a part of one, as JSON takes them."""
    return asdict(values)  # type: ignore[call-overload, no-any-return]  # every subclass is a dataclass
