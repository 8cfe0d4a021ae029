"""Messages of the child that queries a Kubernetes API server."""

from __future__ import annotations

from typing import Any, ClassVar

from gpucheck.core.child.messages import Message, Task
from gpucheck.core.child.messages.struct import field


class KubernetesTask(Task):
    """Answer the parent's requests until there are no more."""

    child: ClassVar[str] = "kubernetes"
    address: str
    port: str
    folder: str  # of the service account


class Account(Message):
    """The identity of this pod, from its token; None for a missing claim."""

    stage: ClassVar[str] = "account"
    namespace: str | None = None
    pod: str | None = None
    subject: str | None = None


class ApiRequest(Message):
    """From the parent: objects to query."""

    id: str = ""
    path: str = ""  # "/api/v1/..."; empty: there are no more requests
    query: dict[str, str] = field(default_factory=dict)


class ApiResponse(Message):
    """The server's response; the job is the request's id."""

    stage: ClassVar[str] = "answer"
    objects: list[dict[str, Any]] = field(default_factory=list)  # some of the fields of the API reference
    problem: str | None = None  # the kind of failure
    detail: str | None = None
    status: int | None = None  # HTTP status
