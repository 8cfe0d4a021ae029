"""What the user asked for."""

from gpucheck.core.model.expectations import Expectations
from gpucheck.core.model.fact import Fact
from gpucheck.core.model.kinds import Level

TIMEOUT_SECONDS = {
    Level.NODE: 10.0,
    Level.QUICK: 120.0,
    Level.DEFAULT: 120.0,
    Level.FULL: 300.0,
}  # limit of a whole run, unless told otherwise


class PromisedGpus(Fact, frozen=True, kw_only=True):
    """How many GPUs a scheduler hands out on this machine."""

    count: int | None  # None: it could not be seen, and ``source`` says why
    source: str  # "Gres of n1 in /etc/slurm/slurm.conf"


class Request(Fact, frozen=True, kw_only=True):
    """What the user asked for; rules may read it like any other fact."""

    level: Level = Level.DEFAULT
    allow_cpu: bool = False
    smoke: bool = True
    strict: bool = False
    timeout_seconds: float = 120.0
    python: str | None = None  # another interpreter to examine; None: the one gpucheck runs in
    strategies: tuple[str, ...] = ()  # empty: every strategy that applies at this level
    backend: str | None = None  # the Keras backend to prove: "tensorflow", "jax", "torch"; None: the environment's own
    logical_devices: int = 0  # each GPU, or else the CPU, is split into so many; 0: as the level says
    log_device_placement: bool = False  # let TensorFlow's own account of every operation's device through
    expectations: Expectations | None = None  # None: nothing was said
    promised: PromisedGpus | None = None  # None: no scheduler was named

    @property
    def other_backend(self) -> str | None:
        """The backend that was asked for in place of TensorFlow: "jax" or "torch". The run is about that one alone then."""
        return None if self.backend == "tensorflow" else self.backend

    @property
    def gpuless(self) -> bool:
        """Whether a TPU alone was asked for."""
        return set(self.strategies) == {"tpu"}

    @property
    def needs_gpu(self) -> bool:
        """Whether a GPU is missed where there is none."""
        return not (self.allow_cpu or self.gpuless)
