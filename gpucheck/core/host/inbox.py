"""A child's report: its messages, validated field by field, and its unfinished stages.

A child runs third-party code, which may write anything. Lines that are not part of the report are ignored; a report line with
invalid content ends the report.
"""

from collections import Counter
from typing import Any

import msgspec

from gpucheck.core.child.messages import AnyMessage, Message, Stage
from gpucheck.core.child.messages.training import ExperimentResult, Planned, Trained

PROBLEM_LENGTH = 200


class Inbox:
    """A child's report so far."""

    def __init__(self) -> None:
        self.read_bytes = 0
        self.progress_count = 0  # stages and steps that have started or ended
        self.open: list[Stage] = []  # started and not ended, in order; a stage with steps is listed as its last step
        self.ended: Counter[str] = Counter()  # how many of each stage have ended
        self.planned: dict[str, int] = {}  # how many of each stage there will be, if known
        self.problem: str | None = None  # why the rest of the report is ignored
        self._messages: dict[type[Message], dict[str, Message]] = {}  # by kind and job
        self._pending: list[bytes] = []  # parts of an incomplete line

    def take(self, data: bytes) -> None:
        """Process the next bytes of the report."""
        self.read_bytes += len(data)
        self._pending.append(data)
        if b"\n" not in data:
            return
        *lines, rest = b"".join(self._pending).split(b"\n")
        self._pending = [rest]
        for line in lines:
            if self.problem is None:
                self._take_line(line)

    def refuse(self, problem: str) -> None:
        """Ignore the rest of the report."""
        self.problem = problem
        self._pending.clear()

    def messages(self, kind: type[AnyMessage]) -> dict[str, AnyMessage]:
        """Return all messages of a kind, by job, in order."""
        return dict(self._messages.get(kind, {}))  # type: ignore[arg-type]

    def _take_line(self, line: bytes) -> None:
        import json  # not every run starts a child

        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(entry, dict):
            return
        try:
            if "begin" in entry:
                self._begin(msgspec.convert([entry["begin"], entry["job"], entry["step"]], Stage))
            elif "end" in entry:
                self._end(entry["end"], entry["job"], entry["value"])
        except (KeyError, TypeError, ValueError, RecursionError) as error:  # msgspec's is a ValueError
            self.refuse(f"its report can't be read: {' '.join(str(error).split())[:PROBLEM_LENGTH]}")

    def _begin(self, stage: Stage) -> None:
        self._close(stage.parent)
        self.open.append(stage)

    def _end(self, name: Any, job: Any, value: Any) -> None:
        kind = next((kind for kind in Message.__subclasses__() if kind.__name__ == name), None)
        if kind is None or not isinstance(job, str):
            raise ValueError(f"unknown message {str(name)[:50]!r}")
        message = msgspec.convert(value, kind)
        self._messages.setdefault(kind, {})[job] = message
        self.ended[kind.stage] += 1
        if isinstance(message, Planned):
            self.planned = {Trained.stage: sum(not job.skip for job in message.jobs), ExperimentResult.stage: message.experiments}
        self._close(Stage(kind.stage, job))

    def _close(self, stage: Stage) -> None:
        """Close a stage and the step inside it."""
        self.progress_count += 1
        self.open = [other for other in self.open if other.parent != stage]
