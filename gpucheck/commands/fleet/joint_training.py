"""Nodes that train together: the cluster configuration for each, and the merge of their reports."""

import collections
import json
import statistics
from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from gpucheck.commands.fleet.decoded import Run, shortened
from gpucheck.commands.fleet.model import Fleet, FleetCause, FleetFault, FleetLink, FleetSkew, FleetTraining, FleetWorker
from gpucheck.commands.fleet.names import fold
from gpucheck.core.cluster.members import STRATEGY
from gpucheck.core.cluster.slurm import expand
from gpucheck.core.cluster.watch import lost
from gpucheck.core.model.thresholds import WORKER_SKEW_TOLERATED
from gpucheck.core.system.read import INVALID_JSON

SKEW, UNREACHABLE = "worker-version-skew", "worker-unreachable"  # rules
FEWEST = 3  # minimum workers to detect a slow one
FIGURES = ("samples_per_second", "step_seconds", "first_step_seconds", "shards_verified", "replicas_equal", "loss_fell")
SLOW = 2.0  # ratio to the median of the nodes' best links; other traffic also slows links
NO_REPORT = "no report"
UNRESPONSIVE = (NO_REPORT, "stalled")
DETAILS = "Additional GRPC error information"  # the text after it repeats the message
LONGEST = 200  # characters of a reason
TOO_FEW = "nothing was trained: two usable nodes are required"
UNTRIED = "its report has no training with other nodes"
UNREADABLE = "the training in its report is not in gpucheck's format"


class _Training(msgspec.Struct):
    training: list[Run] = []


_DECODER = msgspec.json.Decoder(_Training)


def configurations(addresses: Mapping[str, str], first_port: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return the workers' addresses, and TF_CONFIG for each node; nodes with the same address get consecutive ports.

    Args:
        addresses: host or IP address by node, in the order of the workers.
        first_port: the first port of each address.
    """
    used: collections.Counter[str] = collections.Counter()
    places = {}
    for node, host in addresses.items():
        name = f"[{host}]" if ":" in host else host
        places[node] = f"{name}:{first_port + used[host]}"
        used[host] += 1
    cluster = {"worker": list(places.values())}
    return places, {
        node: json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}}, separators=(",", ":"))
        for index, node in enumerate(places)
    }


def with_training(fleet: Fleet, places: Mapping[str, str], reports: Mapping[str, bytes], unreached: Mapping[str, str]) -> Fleet:
    """Add the result of the training to the fleet; without a verified training, the verdict can't be healthy."""
    result = training(places, reports, unreached)
    verdict = fleet.verdict
    if result.status == "failed" or any(not skew.tolerated for skew in result.skew):
        verdict = "fail"
    elif result.status != "passed" and verdict != "fail":
        verdict = "unknown"
    exit_code = {"fail": 1, "unknown": 3}.get(verdict, fleet.exit_code)
    return replace(fleet, training=result, causes=_causes(fleet, result), verdict=verdict, exit_code=exit_code)


def _causes(fleet: Fleet, result: FleetTraining) -> tuple[FleetCause, ...]:
    """Assign causes to the nodes that have them, because each worker's report also lists causes on other workers."""
    skewed = next((skew for skew in result.skew if not skew.tolerated), None)
    own = [cause for cause in fleet.causes if cause.code != UNREACHABLE and not (skewed and cause.code == SKEW)]
    if skewed is not None:
        words = f"The workers of one job differ: {skewed.what} is {skewed.value} here and {skewed.usual} on the other nodes."
        own.insert(0, _cause(SKEW, "environment", list(expand(skewed.nodes)), words))
    unresponsive = [fault for fault in result.faults if fault.how in UNRESPONSIVE or fault.reporter != fault.node]
    if unresponsive:
        words = f"{unresponsive[0].worker} does not respond: {unresponsive[0].reason}."
        own.insert(0, _cause(UNREACHABLE, "host", [fault.node for fault in unresponsive], words))
    return tuple(own)


def _cause(code: str, scope: str, nodes: list[str], words: str) -> FleetCause:
    return FleetCause(
        code=code, severity="error", scope=scope, count=len(nodes), nodes=fold(nodes), example=words, example_node=nodes[0]
    )


def training(places: Mapping[str, str], reports: Mapping[str, bytes], unreached: Mapping[str, str]) -> FleetTraining:
    """Merge the reports of the training.

    Args:
        places: address by node, in the order of the workers.
        reports: JSON by node, for nodes with a report.
        unreached: why a node has no report.
    """
    decoded = {node: _runs(reports[node]) for node in places if node in reports}
    own = {
        node: next((run for run in runs if run.strategy == STRATEGY), Run(STRATEGY, "skipped", UNTRIED))
        for node, runs in decoded.items()
    }
    links = _links(list(places), own)
    best = {
        node: min(link.seconds for link in links if node in link.nodes)
        for node in {node for link in links for node in link.nodes}
    }
    versions = _versions(list(places), own)
    workers = []
    for index, node in enumerate(places):
        run = own.get(node, Run(STRATEGY, NO_REPORT, unreached.get(node)))
        alone = [
            one.samples_per_second for one in decoded.get(node, ()) if one.strategy == "one_device" and one.samples_per_second
        ]
        workers.append(
            FleetWorker(
                name=f"worker {index}",
                node=node,
                address=places[node],
                status=run.status,
                reason=run.reason,
                versions=versions[node],
                alone_samples_per_second=min(alone, default=None),
                link_seconds=best.get(node),
            )
        )
    faults = tuple(_faults(workers, own))
    statuses = {worker.status for worker in workers}
    result = next((run for run in own.values() if run.status == "passed"), Run(STRATEGY, NO_REPORT))
    return FleetTraining(
        status="passed" if statuses == {"passed"} else "failed" if statuses & {"failed", "timed_out"} else "unknown",
        reason="; ".join(f"{fault.worker} on {fault.node}: {fault.reason}" for fault in faults) or (None if workers else TOO_FEW),
        workers=tuple(workers),
        faults=faults,
        skew=tuple(_skew(versions)),
        links=links,
        slow=_slow(best),
        **{name: getattr(result, name) for name in FIGURES},
    )


def _runs(report: bytes) -> list[Run]:
    """Return the training of a report. If another program wrote it, its training is unknown, and the reason says so."""
    try:
        return _DECODER.decode(report).training
    except INVALID_JSON:
        return [Run(STRATEGY, "skipped", UNREADABLE)]


def _versions(nodes: list[str], own: Mapping[str, Run]) -> dict[str, dict[str, str]]:
    """Return each worker's versions, from its own report, or else from another worker's."""
    found: dict[str, dict[str, str]] = {}
    for index, node in enumerate(nodes):
        reported = [
            run.worker_versions[index] for run in (own.get(node), *own.values()) if run and index < len(run.worker_versions)
        ]
        found[node] = next((versions for versions in reported if versions), {})
    return found


def _skew(versions: Mapping[str, Mapping[str, str]]) -> Iterator[FleetSkew]:
    """Yield the versions that differ from the majority; in a tie, the first worker's version is used as the majority."""
    for what in dict.fromkeys(what for own in versions.values() for what in own):
        counts = collections.Counter(own[what] for own in versions.values() if what in own)
        (majority, _), *others = counts.most_common()
        for value, _ in others:
            nodes = fold(node for node, own in versions.items() if own.get(what) == value)
            yield FleetSkew(what=what, value=value, usual=majority, nodes=nodes, tolerated=what in WORKER_SKEW_TOLERATED)


def _links(nodes: list[str], own: Mapping[str, Run]) -> tuple[FleetLink, ...]:
    """Return each pair once, because both workers measured the same all-reduce."""
    found: dict[tuple[str, ...], FleetLink] = {}
    for run in own.values():
        for link in run.worker_links:
            known = dict(zip(run.worker_names, nodes, strict=False))
            pair = tuple(known[name] for name in link.workers if name in known)
            if len(pair) == 2:
                found.setdefault(pair, FleetLink(nodes=(pair[0], pair[1]), sum_bytes=link.sum_bytes, seconds=link.seconds))
    return tuple(found[pair] for pair in sorted(found))


def _slow(best: Mapping[str, float]) -> tuple[str, ...]:
    """Return the nodes whose best link is slow. A link is as slow as its slower node, so two nodes alone can't be judged."""
    if len(best) < FEWEST:
        return ()
    others = {node: statistics.median(seconds for other, seconds in best.items() if other != node) for node in best}
    return tuple(sorted(node for node, seconds in best.items() if seconds > SLOW * others[node]))


def _faults(workers: list[FleetWorker], own: Mapping[str, Run]) -> list[FleetFault]:
    """Return the root faults: workers that failed themselves or have no report; if there are none, all reported workers."""
    nodes = {worker.name: worker.node for worker in workers}
    reported = [
        FleetFault(
            worker=fault.worker,
            node=nodes[fault.worker],
            how=fault.how,
            reason=_brief(fault.reason),
            stage=fault.stage,
            reporter=node,
        )
        for node, run in own.items()
        for fault in run.worker_faults
        if fault.worker in nodes
    ]
    roots = [fault for fault in reported if fault.node == fault.reporter and not lost(fault.reason)]
    for worker in workers:
        if worker.status in (NO_REPORT, "skipped"):
            others = [fault.reason for fault in reported if fault.worker == worker.name and fault.reporter != worker.node]
            reasons = [reason for reason in others if worker.reason is None or not lost(reason)]
            reason = "; ".join(dict.fromkeys([*reasons, _brief(worker.reason or NO_REPORT)]))
            how = "not tried" if worker.status == "skipped" else NO_REPORT
            roots.append(
                FleetFault(worker=worker.name, node=worker.node, how=how, reason=reason, stage=None, reporter=worker.node)
            )
    return list({fault.worker: fault for fault in reversed(roots or reported)}.values())[::-1]


def _brief(reason: str) -> str:
    """Return the beginning of a worker's message, which may contain pages of gRPC details."""
    return shortened(" ".join(reason.partition(DETAILS)[0].split()).rstrip(" :;."), LONGEST)
