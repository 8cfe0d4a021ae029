"""Messages of the child that describes the examined interpreter."""

from __future__ import annotations

from typing import ClassVar

from gpucheck.core.child.messages import Message, Task


class InterpreterTask(Task):
    """Describe the interpreter."""

    child: ClassVar[str] = "interpreter"
    examined: ClassVar[bool] = True


class Interpreter(Message):
    """The running interpreter."""

    stage: ClassVar[str] = "interpreter"
    executable: str
    version: str  # "3.12.3"
    implementation: str
    prefix: str
    base_prefix: str
    path: tuple[str, ...]  # sys.path, absolute, in order, without repetitions
    bits: int
    platform: str  # as sys.platform
    stdlib: str  # folder of the standard library
