"""The cluster of a Kubernetes pod: the API server's list of pods in the same Job, JobSet, LeaderWorkerSet or StatefulSet.

TensorFlow's KubernetesClusterResolver lists the pods with a label that the user specifies, sorts them by name, uses port 8470 of
each, and can't identify its own pod. Here the pod's own labels determine which pods train together, and the index from
their controller, or else their names, determines the order. The resolver uses the node's address (status.hostIP), which reaches
a pod only if it shares its node's network. status.podIP is the same address in that case, and the pod's own otherwise.

Sources: cluster_resolver/kubernetes_cluster_resolver.py of the TensorFlow 2.21.0 wheel; Kubernetes' pages "Well-Known Labels,
Annotations and Taints" and "Pod Lifecycle"; the label pages of JobSet and LeaderWorkerSet.
"""

import itertools
import time
from typing import NamedTuple

from gpucheck.core.cluster.kubernetes_api import PORT, Api, Pod, Unknown
from gpucheck.core.host import Host

POLL_SECONDS = 2.0  # between queries of pods that don't run yet
MENTIONED = 4  # pods that don't run

INDEX = "batch.kubernetes.io/job-completion-index"  # a label since Kubernetes 1.28, an annotation since 1.21
ORDINAL = "apps.kubernetes.io/pod-index"
# Labels in which a StatefulSet's pods differ
POD_LABELS = (ORDINAL, "statefulset.kubernetes.io/pod-name", "controller-revision-hash")


class Pods(NamedTuple):
    """The pods that train together."""

    addresses: tuple[str, ...]  # "10.1.2.3:8470", one per worker
    number: int  # index of this one, from 0


class Alone(Exception):
    """No other pod trains with this one; the message gives the reason."""


class Unusable(Exception):
    """The pods of the cluster can't train together; the message gives the reason."""


class _Group(NamedTuple):
    controller: str  # "Job"
    labels: dict[str, str]  # that its pods share
    index_labels: tuple[str, ...] = ()  # labels that number them
    one_owner: bool = True  # one object owns them all; a JobSet's pods belong to different Jobs


# Controllers of pods that train together, detected by labels, because a JobSet's Job is one of several. The first match is used.
CONTROLLERS = (
    _Group(
        "JobSet",
        dict.fromkeys(("jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/replicatedjob-name"), ""),
        ("jobset.sigs.k8s.io/job-index", INDEX),
        one_owner=False,
    ),
    _Group(
        "LeaderWorkerSet",
        dict.fromkeys(("leaderworkerset.sigs.k8s.io/name", "leaderworkerset.sigs.k8s.io/group-index"), ""),
        ("leaderworkerset.sigs.k8s.io/worker-index",),
        one_owner=False,
    ),
    _Group("Job", {"batch.kubernetes.io/job-name": ""}, (INDEX,)),
    _Group("Job", {"job-name": ""}, (INDEX,)),  # before Kubernetes 1.27, and the resolver's default
)


def pods(host: Host) -> Pods:
    """Query the pods that train with this one, and wait until all of them run, for half of the run's remaining time.

    Raises:
        Alone: there are none.
        Unknown: they can't be determined.
        Unusable: they can't train together.
    """
    deadline = time.monotonic() + host.remaining() / 2
    api = Api(host)
    try:
        own = api.own(host.env.get("HOSTNAME", ""))
        group = _group(own)
        desired = api.desired_pods(own)
        while True:
            siblings = [pod for pod in _listed(api, group) if not group.one_owner or pod.owner.uid == own.owner.uid]
            order = _order(siblings, group)
            missing = _missing_pods(group, order, siblings, desired)
            if not missing:
                return _pods_in_order(group, order, own.name)
            if time.monotonic() + POLL_SECONDS > deadline:
                raise Unusable(missing)
            time.sleep(POLL_SECONDS)
    finally:
        api.close()


def _group(own: Pod) -> _Group:
    labels = own.metadata.labels
    for group in CONTROLLERS:
        if all(labels.get(name) for name in group.labels):
            return group._replace(labels={name: labels[name] for name in group.labels})
    if own.owner.kind == "StatefulSet":
        return _Group("StatefulSet", {name: value for name, value in labels.items() if name not in POD_LABELS}, (ORDINAL,))
    raise Alone("this pod belongs to no Job, JobSet, LeaderWorkerSet or StatefulSet, which would define its training partners")


def _listed(api: Api, group: _Group) -> list[Pod]:
    try:
        return api.pods(group.labels)
    except Unknown as error:  # other pods exist, so this is not Unknown
        raise Unusable(str(error)) from error


def _order(siblings: list[Pod], group: _Group) -> list[Pod]:
    """Return the pods that have not ended, in order. A pod that replaces another has the same index, so the newest is used."""
    live = [pod for pod in siblings if pod.live]
    newest = {pod.index(group.index_labels): pod for pod in sorted(live, key=lambda pod: pod.metadata.creation_timestamp)}
    indexed = {index: pod for index, pod in newest.items() if index is not None}
    if len(indexed) < len(newest):  # some have no index
        return sorted(live, key=lambda pod: pod.name)
    return [indexed[index] for index in sorted(indexed)]


def _missing_pods(group: _Group, order: list[Pod], siblings: list[Pod], desired: int | None) -> str | None:
    """Describe the pods that are missing or do not run yet; None if all run."""
    indexes = [pod.index(group.index_labels) for pod in order]
    places = [index[0] for index in indexes if index is not None and len(index) == 1]
    total = len(order)
    if places and len(places) == total and group.controller != "StatefulSet":  # which may begin at any number
        ended_pods = [pod for pod in siblings if not pod.live]
        ended = {index[0]: pod.status.phase for pod in ended_pods if (index := pod.index(group.index_labels)) is not None}
        total = max(places[-1] + 1, desired or 0)
        gone = itertools.islice((place for place in range(total) if place not in places), MENTIONED)
        missing = [f"worker {place}: {ended.get(place, 'has no pod')}" for place in gone]
    else:
        places = list(range(total))
        missing = [] if (desired or 0) <= total else [f"only {total} of {desired} pods exist{_one_by_one(group)}"]
    still = [f"worker {place}: {pod.state}" for place, pod in zip(places, order, strict=True) if not pod.ready]
    listed = (still + missing)[:MENTIONED]
    if not listed:
        return None
    more = len(still) + max(len(missing), total - len(order)) - len(listed)
    return (
        f"not all pods of the {group.controller} are running: {'; '.join(listed)}{f'; and {more} more' if more else ''}"
        " (see kubectl describe pod)"
    )


def _pods_in_order(group: _Group, order: list[Pod], own: str) -> Pods:
    names = [pod.name for pod in order]
    if own not in names:
        raise Unusable(f"this pod is being terminated or replaced: the {group.controller} has {len(names)} others")
    if len(names) < 2:
        raise Alone(f"this pod is the only one of its {group.controller}{_one_by_one(group)}")
    ranks: dict[str, int] = {}
    for place, pod in enumerate(order):
        if pod.listens in ranks:
            raise Unusable(
                f"worker {ranks[pod.listens]} and worker {place} share a node's network (hostNetwork) and its one port {PORT}:"
                " remove hostNetwork, or place them on different nodes (podAntiAffinity)"
            )
        ranks[pod.listens] = place
    return Pods(tuple(ranks), names.index(own))


def _one_by_one(group: _Group) -> str:
    slow = group.controller == "StatefulSet"
    return "; it creates them one after the other unless its podManagementPolicy is Parallel" if slow else ""
