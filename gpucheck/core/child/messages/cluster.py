"""Messages of the child that asks a Kubernetes API server."""

from __future__ import annotations

from typing import Any, ClassVar

from gpucheck.core.child.messages import Message, Task
from gpucheck.core.child.messages.struct import field


class KubernetesTask(Task):
    """Answer the parent's questions until none comes any more."""

    child: ClassVar[str] = "kubernetes"
    address: str
    port: str
    folder: str  # of the service account


class Account(Message):
    """Who this pod is, by its token; None where the token does not say."""

    stage: ClassVar[str] = "account"
    namespace: str | None = None
    pod: str | None = None
    subject: str | None = None


class Question(Message):
    """From the parent: objects to ask for."""

    id: str = ""
    path: str = ""  # "/api/v1/..."; empty: there are no more questions
    query: dict[str, str] = field(default_factory=dict)


class Answer(Message):
    """What the server answered; the job is the question's id."""

    stage: ClassVar[str] = "answer"
    objects: list[dict[str, Any]] = field(default_factory=list)  # parts of what the API reference declares
    problem: str | None = None  # a word for why there are none
    detail: str | None = None
    status: int | None = None  # of HTTP
