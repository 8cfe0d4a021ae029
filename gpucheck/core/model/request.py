"""What the user asked for."""

from gpucheck.core.model.expectations import Expectations
from gpucheck.core.model.fact import Fact
from gpucheck.core.model.kinds import Level

TIMEOUT_SECONDS = {
    Level.NODE: 10.0,
    Level.QUICK: 120.0,
    Level.DEFAULT: 120.0,
    Level.FULL: 300.0,
}  # default time limit of a whole run


class PromisedGpus(Fact, frozen=True, kw_only=True):
    """How many GPUs a scheduler assigns on this machine."""

    count: int | None  # None: unknown, ``source`` is the reason
    source: str  # "Gres of n1 in /etc/slurm/slurm.conf"


class Request(Fact, frozen=True, kw_only=True):
    """The user's request; rules can use it like any other fact."""

    level: Level = Level.DEFAULT
    allow_cpu: bool = False
    smoke: bool = True
    strict: bool = False
    timeout_seconds: float = 120.0
    python: str | None = None  # another interpreter to examine; None: the one gpucheck runs in
    strategies: tuple[str, ...] = ()  # empty: every strategy that applies at this level
    backend: str | None = None  # the Keras backend to test: "tensorflow", "jax", "torch"; None: the configured one
    logical_devices: int = 0  # how many to split each GPU into, or else the CPU; 0: the level's default
    log_device_placement: bool = False  # print TensorFlow's own log of each operation's device
    soak_minutes: float = 0.0  # how long to repeat the same computations and compare their results
    expectations: Expectations | None = None  # None: none given
    promised: PromisedGpus | None = None  # None: no scheduler given

    @property
    def other_backend(self) -> str | None:
        """The requested backend if it is not TensorFlow: "jax" or "torch". The run then tests only that backend."""
        return None if self.backend == "tensorflow" else self.backend

    @property
    def gpuless(self) -> bool:
        """Whether only a TPU was requested."""
        return set(self.strategies) == {"tpu"}

    @property
    def needs_gpu(self) -> bool:
        """Whether the run requires a GPU."""
        return not (self.allow_cpu or self.gpuless)
