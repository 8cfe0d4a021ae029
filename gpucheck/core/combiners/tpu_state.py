"""The state of a TPU, from this machine, its environment, and an attempt to connect."""

from gpucheck.core.model import Fact, combiner
from gpucheck.core.probes.environment import Environment
from gpucheck.core.probes.tpu import Tpu
from gpucheck.core.probes.tpu_resolver import TpuResolver

# Variables of TPUs that are reached over the network; these are not on this machine's bus.
_REMOTE = ("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_CONFIG", "COLAB_TPU_ADDR")


class TpuState(Fact, frozen=True, kw_only=True):
    """The chips, the connection and the environment; None for a part that was not checked."""

    tpu: Tpu
    resolver: TpuResolver | None
    environment: Environment | None

    @property
    def connected(self) -> bool:
        """Whether TensorFlow connected to the TPU, which proves that everything it needs works."""
        return self.resolver is not None and bool(self.resolver.connected)

    @property
    def remote(self) -> bool:
        """Whether the environment names a TPU on the network."""
        variables = self.environment.variables if self.environment is not None else {}
        return any(variables.get(name) for name in _REMOTE) or variables.get("TPU_NAME", "local") not in ("", "local")

    @property
    def title(self) -> str:
        """'4 × v5e', or another sign of a TPU."""
        kinds = sorted(set(self.tpu.generations))
        if kinds:
            return ", ".join(f"{self.tpu.generations.count(kind)} × {kind}" for kind in kinds)
        return ", ".join(self.tpu.nodes[:1] or self.tpu.variables[:1])


combine = combiner(TpuState)  # only the facts of this machine are required
