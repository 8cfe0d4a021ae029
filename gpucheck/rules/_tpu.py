"""What the rules of the TPU row share."""

import re

from gpucheck.compat import tpu as tpus
from gpucheck.compat import versions
from gpucheck.model import Finding, Fix, Skip, saw
from gpucheck.probes.environment import Environment
from gpucheck.probes.log import Log
from gpucheck.probes.tpu import Tpu
from gpucheck.probes.tpu_resolver import TpuResolver
from gpucheck.rules._training import standing
from gpucheck.rules._words import short

_OF_WORKERS = re.compile(r"TF_CONFIG|(?:ps|worker)_hosts|/job:ps|(?i:parameter ?server)")
# TPUs reached over the network: nothing of them is on this machine's bus.
REMOTE = ("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_CONFIG", "COLAB_TPU_ADDR")


def connected(resolver: TpuResolver | None) -> bool:
    """Whether TensorFlow has connected to the TPU, which proves all that it needs for that."""
    return resolver is not None and bool(resolver.connected)


def remote(environment: Environment | None) -> bool:
    """Whether the environment names a TPU elsewhere on the network."""
    variables = environment.variables if environment is not None else {}
    return any(variables.get(name) for name in REMOTE) or variables.get("TPU_NAME", "local") not in ("", "local")


def named(tpu: Tpu) -> str:
    """'4 × v5e', or what else shows that one is here."""
    if tpu.generations:
        kinds = sorted(set(tpu.generations))
        return ", ".join(f"{tpu.generations.count(kind)} × {kind}" for kind in kinds)
    return ", ".join(tpu.nodes[:1] or tpu.variables[:1])


def runtime(tensorflow_tpu: str = tpus.LATEST_TENSORFLOW_TPU) -> tuple[str, ...]:
    """pip's arguments for that tensorflow-tpu (first) and the libtpu that fits it."""
    pin = tpus.LIBTPU_PINS.get(tensorflow_tpu, tpus.LIBTPU_LAST_WITH_TENSORFLOW_ENTRY)
    elsewhere = () if versions.at_least(tensorflow_tpu, "2.19") else ("-f", tpus.LIBTPU_INDEX)
    return (f"tensorflow-tpu=={tensorflow_tpu}", f"libtpu=={pin}", *elsewhere)


def from_log(log: Log | None, reason: str, what: str, fix: tuple[Fix, ...]) -> Finding | Skip | None:
    """The finding of a log's ``tpu-failed`` line with that reason."""
    if log is None:
        return Skip("nothing looked for a TPU")
    for place, event in standing(log, "tpu-failed"):
        if event.fields.get("reason") == reason:
            return Finding(summary=f"{what}: {short(event.text)}.", evidence=saw(log, f"events[{place}].text"), fix=fix)
    return None


def at_work(log: Log | None) -> bool:
    """Whether a log is of a program on a TPU, for all that it names: its workers are the TPU's then."""
    events = log.events if log is not None else ()
    elsewhere = any(
        event.kind == "gpu-created" or (event.kind == "cluster-named" and _OF_WORKERS.search(event.text)) for event in events
    )
    return not elsewhere and any(event.kind == "uses-tpu" for event in events)


def unanswered(log: Log | None, what: str, fix: tuple[Fix, ...]) -> Finding | None:
    """The finding of a log in which a program on a TPU could not connect, and no line says more of the TPU."""
    if log is None or not at_work(log) or any(event.kind == "tpu-failed" for event in log.events):
        return None
    for place, event in standing(log, "worker-unreachable"):
        if "needs" not in event.fields:
            return Finding(summary=f"{what}: {short(event.text)}.", evidence=saw(log, f"events[{place}].text"), fix=fix)
    return None
