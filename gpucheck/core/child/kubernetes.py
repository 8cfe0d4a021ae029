"""The child that queries a Kubernetes API server with the pod's service account.

Only the fields in ``KEPT`` are passed on: pod specifications hold environment variables, which may hold secrets. The token is
read from its file for each request, because the kubelet renews it, and is sent only to the server.

Sources: Kubernetes' pages "Accessing the Kubernetes API from a Pod" and "Managing Service Accounts" (the token's claims), and the
API reference of Pod, Job and StatefulSet.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import socket
import ssl
import urllib.parse
from typing import Any

from gpucheck.core.child.messages.cluster import Account, ApiRequest, ApiResponse, KubernetesTask
from gpucheck.core.child.runtime import Reporter

IDLE_SECONDS = 60.0  # without a request, after which the child exits
ANSWER_SECONDS = 5.0  # without a byte from the server
LIMIT_BYTES = 32 << 20  # of all pages of a response: 3000 pods have about 10 KB each
PAGE = 500  # objects; the server may return fewer
KEPT = {
    "metadata": ("name", "uid", "labels", "annotations", "creationTimestamp", "deletionTimestamp", "ownerReferences"),
    "spec": ("parallelism", "completions", "replicas"),
    "status": ("phase", "podIP", "conditions", "initContainerStatuses", "containerStatuses"),
}
ANNOTATIONS = ("batch.kubernetes.io/", "leaderworkerset.sigs.k8s.io/")  # others may hold anything, even a whole specification


class _Refused(Exception):
    """Why a request has no response: the kind of problem, and details."""

    def __init__(self, problem: str, detail: str | None = None, status: int | None = None) -> None:
        super().__init__(problem)
        self.response = ApiResponse(problem=problem, detail=detail, status=status)


def run(reporter: Reporter, task: KubernetesTask) -> None:
    """Answer the parent's requests until there are no more."""
    reporter.begin(Account)
    reporter.end(account(task.folder))
    while True:
        request = reporter.receive(ApiRequest, IDLE_SECONDS)
        if request is None or not request.path:
            return
        reporter.begin(ApiResponse, request.id)
        reporter.end(answer(task.address, int(task.port), task.folder, request.path, request.query), request.id)


def account(folder: str) -> Account:
    """Read the token's claims and the namespace file; None for missing claims, as in tokens before Kubernetes 1.21."""
    bound: dict[str, Any] = {}
    pod = subject = None
    try:
        payload = _token(folder).split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        bound = claims.get("kubernetes.io") or {}
        pod = (bound.get("pod") or {}).get("name")
        subject = claims.get("sub")
    except (_Refused, IndexError, ValueError, AttributeError):
        pass
    try:
        namespace: str | None = _read(folder, "namespace")
    except _Refused:
        namespace = bound.get("namespace")
    return Account(*(value if isinstance(value, str) else None for value in (namespace, pod, subject)))


def answer(address: str, port: int, folder: str, path: str, query: dict[str, str]) -> ApiResponse:
    """Return the objects that a request selects, from all pages; or "problem", "detail" and "status" if it fails."""
    connection = None
    try:
        connection = http.client.HTTPSConnection(
            address, port, timeout=ANSWER_SECONDS, context=_context(folder)
        )  # ignores proxies
        return ApiResponse(_objects(connection, folder, path, query))
    except _Refused as error:
        return error.response
    except ssl.SSLCertVerificationError as error:
        return _Refused("certificate", error.verify_message).response
    except ssl.SSLError as error:
        return _Refused("tls", error.reason or str(error)).response
    except ConnectionRefusedError:
        return _Refused("refused").response
    except socket.timeout:  # noqa: UP041 - its own class before Python 3.10
        return _Refused("timed out").response
    except (socket.gaierror, UnicodeEncodeError, http.client.InvalidURL):
        return _Refused("no such name").response
    except (http.client.HTTPException, AttributeError, TypeError, ValueError) as error:
        return _Refused("not understood", type(error).__name__).response
    except OSError as error:
        return _Refused("not connected", os.strerror(error.errno) if error.errno else type(error).__name__).response
    finally:
        if connection is not None:
            connection.close()


def _objects(connection: http.client.HTTPSConnection, folder: str, path: str, query: dict[str, str]) -> list[Any]:
    """Return the objects of all pages."""
    objects: list[Any] = []
    left, more = LIMIT_BYTES, ""
    while True:
        parameters = {**query, "limit": str(PAGE), **({"continue": more} if more else {})}
        body = _get(connection, f"{path}?{urllib.parse.urlencode(parameters)}", _token(folder), left)
        left -= len(body)
        page = json.loads(body)
        objects += [kept(item) for item in (page["items"] or () if "items" in page else [page])]
        more = (page.get("metadata") or {}).get("continue") or ""
        if not more:
            return objects


def kept(whole: Any) -> dict[str, object]:
    """Return the parts of an object that are passed on to the parent."""
    parts: dict[str, Any] = {
        part: {name: whole[part][name] for name in names if name in whole.get(part, {})} for part, names in KEPT.items()
    }
    annotations = parts["metadata"].get("annotations") or {}
    parts["metadata"]["annotations"] = {name: value for name, value in annotations.items() if name.startswith(ANNOTATIONS)}
    return parts


def _context(folder: str) -> ssl.SSLContext:
    """Verify certificate and host name, but less strictly than Python 3.13's default: many clusters' certificates lack what that
    requires (https://github.com/kubernetes-client/python/issues/2394).
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=_read(folder, "ca.crt"))
    except (ssl.SSLError, ValueError):
        raise _Refused("no file", "ca.crt") from None
    return context


def _get(connection: http.client.HTTPSConnection, target: str, token: str, limit: int) -> bytes:
    connection.request("GET", target, headers={"Authorization": f"Bearer {token}", "Accept": "application/json"})
    response = connection.getresponse()
    body = response.read(limit + 1)
    if len(body) > limit:
        raise _Refused("too large")
    if response.status != 200:  # redirects are not followed: the token is for this server only
        raise _Refused("status", status=response.status)
    return body


def _token(folder: str) -> str:
    token = _read(folder, "token")
    if not re.fullmatch(r"[!-~]+", token):  # else http.client would raise an error that contains it
        raise _Refused("no token")
    return token


def _read(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read(1 << 20).strip()
    except (OSError, ValueError):
        raise _Refused("no token" if name == "token" else "no file", name) from None
