"""The Python interpreter under examination, its environment, and the other interpreters on PATH that hold a TensorFlow."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class OtherInterpreter(Fact, frozen=True, kw_only=True):
    """Another interpreter of this machine in whose site-packages a TensorFlow lies. Found on disk; never started."""

    executable: str
    tensorflow: str  # distribution and version: "tensorflow 2.21.0"


class Interpreter(Fact, frozen=True, kw_only=True):
    """The examined interpreter, in its own words."""

    executable: str
    version: str  # "3.12.3"
    implementation: str = "cpython"
    prefix: str
    base_prefix: str
    environment: str | None = None  # "venv", "conda" or None: the system's own Python
    externally_managed: bool | None = None  # PEP 668: pip refuses to install here
    pip_version: str | None = None  # None: no pip
    bits: int | None = None  # 64
    path: tuple[str, ...] = ()  # sys.path, in order
    active_environment: str | None = None  # VIRTUAL_ENV or CONDA_PREFIX of the shell
    others: tuple[OtherInterpreter, ...] = ()


@probe(level=Level.QUICK)
def read(host: Host) -> Interpreter:
    """Ask the interpreter (a child, if it is not our own) and look beside it on PATH."""
    raise NotImplementedError
