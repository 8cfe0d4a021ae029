"""Queries for pods to the Kubernetes API server, through the child ``kubernetes``.

Sources: the API reference of Pod, Job and StatefulSet; Kubernetes' page "Accessing the Kubernetes API from a Pod".
"""

import re
from typing import Any, NoReturn, TypeVar

import msgspec

from gpucheck.core.child.messages.cluster import Account, ApiRequest, ApiResponse, KubernetesTask
from gpucheck.core.host import Host

FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"
PORT = 8470  # of TensorFlow's KubernetesClusterResolver
ANSWER_SECONDS = 15.0  # for all pages of one query
MESSAGE_LENGTH = 160
ENDED = ("Succeeded", "Failed")
NAMESPACE = r"[a-z0-9-]{1,63}"
SUBJECT = rf"system:serviceaccount:({NAMESPACE}):([a-z0-9.-]+)"
ROLE = "gpucheck-pods"
RIGHTS = "--verb=get,list --resource=pods,jobs.batch,statefulsets.apps"
REPLICAS = "jobset.sigs.k8s.io/replicatedjob-replicas"
SIZE = "leaderworkerset.sigs.k8s.io/size"  # of a group, including its leader
Object = TypeVar("Object")


class Unknown(Exception):
    """The pods that train together can't be determined; the message gives the reason."""


class _Struct(msgspec.Struct, frozen=True, rename="camel"):
    """Part of an object of the API reference; the server omits empty fields."""


class _OwnerReference(_Struct, frozen=True):
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class _ObjectMeta(_Struct, frozen=True):
    name: str
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    creation_timestamp: str = ""  # RFC 3339 in UTC: sorts as text
    deletion_timestamp: str | None = None
    owner_references: tuple[_OwnerReference, ...] = ()


class _ContainerStateWaiting(_Struct, frozen=True):
    reason: str = ""


class _ContainerState(_Struct, frozen=True):
    waiting: _ContainerStateWaiting | None = None


class _ContainerStatus(_Struct, frozen=True):
    state: _ContainerState = _ContainerState()


class _PodCondition(_Struct, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class _PodStatus(_Struct, frozen=True):
    phase: str = ""
    address: str = msgspec.field(default="", name="podIP")
    conditions: tuple[_PodCondition, ...] = ()
    init_container_statuses: tuple[_ContainerStatus, ...] = ()
    container_statuses: tuple[_ContainerStatus, ...] = ()


class Pod(_Struct, frozen=True):
    """The fields of a pod that determine which pods train together."""

    metadata: _ObjectMeta
    status: _PodStatus = _PodStatus()

    @property
    def name(self) -> str:
        """The pod's name."""
        return self.metadata.name

    @property
    def marks(self) -> dict[str, str]:
        """Labels and annotations."""
        return {**self.metadata.annotations, **self.metadata.labels}

    @property
    def owner(self) -> _OwnerReference:
        """The controller that created it; empty if there is none."""
        return next((owner for owner in self.metadata.owner_references if owner.controller), _OwnerReference())

    @property
    def live(self) -> bool:
        """Whether it has not ended."""
        return self.status.phase not in ENDED and self.metadata.deletion_timestamp is None

    @property
    def ready(self) -> bool:
        """Whether it runs and has an address."""
        return self.status.phase == "Running" and bool(self.status.address)

    @property
    def listens(self) -> str:
        """The address on which it will listen: host and port."""
        address = self.status.address
        return f"[{address}]:{PORT}" if ":" in address else f"{address}:{PORT}"

    @property
    def state(self) -> str:
        """Its phase, with the reason: "Pending (Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu)"."""
        for condition in self.status.conditions:
            if condition.type == "PodScheduled" and condition.status == "False":
                message = re.split(r"\.?\s+preemption:", condition.message)[0].rstrip(".")
                return f"{self.status.phase} ({condition.reason}: {message[:MESSAGE_LENGTH]})"
        for container in (*self.status.init_container_statuses, *self.status.container_statuses):
            if container.state.waiting is not None and container.state.waiting.reason:
                return f"{self.status.phase} ({container.state.waiting.reason})"
        return self.status.phase

    def index(self, numbers: tuple[str, ...]) -> tuple[int, ...] | None:
        """Return its index from these labels; None if one is missing."""
        marks = self.marks
        values = [marks[name] for name in numbers if marks.get(name, "").isdecimal()]
        return tuple(map(int, values)) if values and len(values) == len(numbers) else None


class _Controller(_Struct, frozen=True):
    """A Job or a StatefulSet."""

    spec: dict[str, Any] = {}


class Api:
    """The API server, queried through a child."""

    def __init__(self, host: Host) -> None:
        if host.stat(f"{FOLDER}/token") is None:
            raise Unknown(
                "no service account token is mounted for the API server (automountServiceAccountToken: false);"
                " mount it, or set TF_CONFIG"
            )
        port = host.env.get("KUBERNETES_SERVICE_PORT_HTTPS") or host.env.get("KUBERNETES_SERVICE_PORT") or "443"
        if not port.isdecimal():
            raise Unknown(f"KUBERNETES_SERVICE_PORT is not a number: {port[:20]}")
        self._requests = 0
        task = KubernetesTask(host.env["KUBERNETES_SERVICE_HOST"], port, host.real(FOLDER))
        self._child = host.child(task, limit=host.remaining())
        self._account = self._child.wait_for(Account, within=ANSWER_SECONDS) or self._no_answer()
        self._namespace = str(self._account.namespace)
        if not re.fullmatch(NAMESPACE, self._namespace):
            raise Unknown("the service account's folder has no valid namespace; set TF_CONFIG")

    def close(self) -> None:
        """Let the child end."""
        self._child.send(ApiRequest())

    def own(self, hostname: str) -> Pod:
        """Return this pod. Its name is a claim of the token, or, with older tokens, usually the host name."""
        name = self._account.pod or hostname
        response = self._request(self._path("api/v1", "pods"), {"fieldSelector": f"metadata.name={name}"}, Pod)
        if not response:
            raise Unknown(f"the API server has no pod named {str(name)[:80]!r} in its namespace; set TF_CONFIG")
        return response[0]

    def pods(self, labels: dict[str, str]) -> list[Pod]:
        """Return all pods with these labels."""
        selector = ",".join(f"{name}={value}" for name, value in labels.items())
        return self._request(self._path("api/v1", "pods"), {"labelSelector": selector}, Pod)

    def desired_pods(self, own: Pod) -> int | None:
        """Return how many pods the controller runs at a time; None if unspecified, or not readable by this account."""
        if own.marks.get(SIZE, "").isdecimal():
            return int(own.marks[SIZE])
        kinds = {"Job": ("apis/batch/v1", "jobs"), "StatefulSet": ("apis/apps/v1", "statefulsets")}
        if own.owner.kind not in kinds:
            return None
        try:
            (controller,) = self._request(f"{self._path(*kinds[own.owner.kind])}/{own.owner.name}", {}, _Controller)
        except (Unknown, ValueError):
            return None
        counts = (controller.spec.get(name) for name in ("parallelism", "completions", "replicas"))
        each = [count for count in counts if isinstance(count, int)]
        sets = own.marks.get(REPLICAS, "1")
        return min(each) * int(sets) if each and sets.isdecimal() else None

    def _path(self, group: str, kind: str) -> str:
        return f"/{group}/namespaces/{self._namespace}/{kind}"

    def _request(self, path: str, query: dict[str, str], kind: type[Object]) -> list[Object]:
        self._requests += 1
        request = ApiRequest(str(self._requests), path, query)
        self._child.send(request)
        response = self._child.wait_for(ApiResponse, request.id, within=ANSWER_SECONDS) or self._no_answer()
        if response.problem:
            raise Unknown(self._message(response.problem, response.detail, response.status))
        try:
            return msgspec.convert(response.objects, list[kind])  # type: ignore[valid-type]
        except msgspec.ValidationError as error:
            raise Unknown(self._message("not understood", str(error), None)) from error

    def _no_answer(self) -> NoReturn:
        ending = self._child.end()
        if ending.late:
            raise Unknown(self._message("timed out", None, None))
        raise Unknown(f"the API server could not be queried: {ending.how}; set TF_CONFIG")

    def _message(self, problem: str, detail: str | None, status: int | None) -> str:
        if status == 401:
            return "the API server does not accept this pod's token (status 401): restart the pod, or set TF_CONFIG"
        if status == 403:
            return f"this pod's service account is not allowed to list pods (status 403); allow it: {self._allowance()}"
        descriptions = {
            "status": f"it responded with status {status}",
            "refused": "it refuses the connection",
            "timed out": "it does not respond in time; a NetworkPolicy may block the connection",
            "certificate": f"its certificate is not the one of {FOLDER}/ca.crt ({detail})",
            "tls": f"TLS fails ({detail})",
            "no such name": "its name could not be resolved",
            "not connected": f"no connection ({detail})",
            "too large": "its response is too large",
            "not understood": f"its response is not valid ({detail})",
            "no token": "the token can't be read",
            "no file": f"{detail} can't be read",
        }
        return f"the API server could not be queried: {descriptions.get(problem, problem)}; set TF_CONFIG"

    def _allowance(self) -> str:
        match = re.fullmatch(SUBJECT, str(self._account.subject))
        account = f"{match[1]}:{match[2]}" if match else f"{self._namespace}:ACCOUNT"
        space = f"--namespace={self._namespace}"
        return (
            f"kubectl create role {ROLE} {RIGHTS} {space}"
            f" && kubectl create rolebinding {ROLE} --role={ROLE} --serviceaccount={account} {space}"
        )
