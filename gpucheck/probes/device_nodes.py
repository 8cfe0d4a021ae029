"""The /dev/nvidia* nodes: which exist, and which this process may open (asked by opening them, in a child)."""

from gpucheck.host import Host
from gpucheck.model import Fact, Level
from gpucheck.plugin import probe


class DeviceNode(Fact, frozen=True, kw_only=True):
    """One node."""

    path: str
    present: bool
    openable: bool | None = None  # read and write; None: not tried, or the attempt did not return
    error: str | None = None  # "EACCES", "EPERM" (a cgroup's device rule), "ENXIO", "ENODEV", "EIO"
    mode: str | None = None  # "0666"
    owner: str | None = None  # "root"
    group: str | None = None  # "video"
    regular_file: bool = False  # an ordinary file where a character device should be


class DeviceNodes(Fact, frozen=True, kw_only=True):
    """The nodes CUDA opens: nvidiactl, nvidia-uvm and one nvidia<minor> per GPU."""

    control: DeviceNode
    uvm: DeviceNode
    gpus: tuple[DeviceNode, ...] = ()  # those present, and those expected from /proc/driver/nvidia/gpus but absent
    ending: str | None = None  # how the opening child ended, if it did not finish: "timed out", "killed by SIGSEGV"


@probe(level=Level.QUICK)
def read(host: Host) -> DeviceNodes:
    """List the nodes; open each in a child, because opening can block on a wedged driver."""
    raise NotImplementedError
