"""What the rules of the TPU row share."""

from gpucheck.combiners.log_causes import LogCauses
from gpucheck.compat import tpu as tpus
from gpucheck.compat import versions
from gpucheck.model import Finding, Fix, Skip
from gpucheck.probes.environment import Environment
from gpucheck.probes.tpu import Tpu
from gpucheck.probes.tpu_resolver import TpuResolver

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


def from_log(log_causes: LogCauses, code: str, fix: tuple[Fix, ...]) -> Finding | Skip | None:
    """What the log says, where nothing looked for a TPU."""
    cause = log_causes.named.get(code)
    if cause is not None:
        return log_causes.finding(cause, fix)
    return Skip("nothing looked for a TPU") if log_causes.outcomes.log is None else None
