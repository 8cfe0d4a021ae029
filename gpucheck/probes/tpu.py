"""TPU chips, device nodes, runtime packages and environment. Reads only; connecting is ``tpu_resolver``'s."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class Tpu(Fact, frozen=True, kw_only=True):
    """What says that a TPU should be here, and with what it would be driven."""

    generations: tuple[str, ...] = ()  # one per chip on the PCI bus: "v5e"
    nodes: tuple[str, ...] = ()  # /dev/accel*, or /dev/vfio/<n> where a chip is on the bus
    variables: tuple[str, ...] = ()  # names of set TPU_* variables that announce a TPU
    expected: bool = False  # a chip on the bus, an accel node, or a variable that names a TPU
    tensorflow_tpu: str | None = None  # version of tensorflow-tpu
    libtpu: str | None = None  # version of the libtpu package
    libtpu_path: str | None = None  # TPU_LIBRARY_PATH, or the package's libtpu.so
    lock_file: str | None = None  # /tmp/libtpu_lockfile, if present
    lock_owner: str | None = None  # user name of its owner, if not this user
    holder_pid: int | None = None  # a process that has a chip's node open, if this process may see it


@probe(level=Level.QUICK)
def read(host: Host) -> Tpu:
    """Read the PCI bus, /dev, the environment and the package metadata."""
    raise NotImplementedError
