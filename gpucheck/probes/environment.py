"""The environment variables that change what CUDA, TensorFlow, Keras, NCCL or a TPU do."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class Environment(Fact, frozen=True, kw_only=True):
    """Variables by name. A value is recorded only for a name whose meaning is known; the rest are named only."""

    variables: dict[str, str]  # known names only, with their values
    unrecorded: tuple[str, ...] = ()  # names under a watched prefix (CUDA_, TF_, ...) that are not known: no values


@probe(level=Level.QUICK)
def read(host: Host) -> Environment:
    """Pick the known names out of the environment."""
    raise NotImplementedError
