"""The /dev/nvidia* nodes: which exist, and which this process can open (tested in a child)."""

from msgspec.structs import replace

from gpucheck.core.child.messages.machine import DeviceNodesTask, NodeOpened
from gpucheck.core.host import LATE, Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes._driver_query import too_early
from gpucheck.core.probes.kernel_module import minors

CONTROL, UVM = "/dev/nvidiactl", "/dev/nvidia-uvm"
LIMIT_SECONDS = 10.0


class DeviceNode(Fact, frozen=True, kw_only=True):
    """One node."""

    path: str
    present: bool
    openable: bool | None = None  # read and write; None: not tried, or the attempt did not return
    error: str | None = None  # "EACCES", "EPERM" (a cgroup's device rule), "ENXIO", "ENODEV", "EIO"
    mode: str | None = None  # "0666"
    owner: str | None = None  # "root"
    group: str | None = None  # "video"
    regular_file: bool = False  # an ordinary file or folder where a character device should be


class DeviceNodes(Fact, frozen=True, kw_only=True):
    """The nodes CUDA opens: nvidiactl, nvidia-uvm and one nvidia<minor> per GPU."""

    control: DeviceNode
    uvm: DeviceNode
    gpus: tuple[DeviceNode, ...] = ()  # those present, and missing ones of GPUs in /proc/driver/nvidia/gpus
    ending: str | None = None  # how the opening child ended, if it did not finish: "timed out", "killed by SIGSEGV"
    hung_on: str | None = None  # the node it was opening at that time

    @property
    def hung(self) -> bool:
        """Whether opening a node did not return."""
        return self.ending in LATE


@probe(level=Level.NODE)
def read(host: Host) -> DeviceNodes:
    """List the nodes; open each in a child, because opening can block in a stuck driver.

    Raises:
        RuntimeError: there was too little time to open them.
    """
    control, uvm, *gpus = (_look(host, path) for path in (CONTROL, UVM, *_gpu_paths(host)))
    paths = [node.path for node in (control, uvm, *gpus) if node.present and not node.regular_file]
    if not paths:
        return DeviceNodes(control=control, uvm=uvm, gpus=tuple(gpus))
    limit = min(LIMIT_SECONDS, host.remaining())
    child = host.child(DeviceNodesTask(tuple(paths)), limit=limit)
    opened = {path: child.wait_for(NodeOpened, path) for path in paths}
    # Once all nodes are tried, do not wait for the child's end: closing a sleeping GPU takes as long as waking it.
    ending = child.end() if None in opened.values() else None
    if ending is not None and (why := too_early(ending, limit)) is not None:
        raise RuntimeError(f"{ending.stage.job if ending.stage else 'the device files'} did not open within {limit:.2g} s: {why}")
    return DeviceNodes(
        control=_tried(control, opened),
        uvm=_tried(uvm, opened),
        gpus=tuple(_tried(node, opened) for node in gpus),
        ending=None if ending is None else ending.how,
        hung_on=None if ending is None or ending.stage is None else ending.stage.job,
    )


def _gpu_paths(host: Host) -> list[str]:
    """Return the paths of the device files, and of as many missing ones as the driver lists more GPUs, lowest numbers first."""
    present, listed = minors(host), len(host.names("/proc/driver/nvidia/gpus"))
    absent = [number for number in range(listed) if number not in present][: max(0, listed - len(present))]
    return [f"/dev/nvidia{number}" for number in sorted([*present, *absent])]


def _look(host: Host, path: str) -> DeviceNode:
    status = host.stat(path)
    if status is None:
        return DeviceNode(path=path, present=False)
    return DeviceNode(
        path=path,
        present=True,
        mode=f"{status.mode:04o}",
        owner=status.owner,
        group=status.group,
        regular_file=status.kind != "character device",
    )


def _tried(node: DeviceNode, opened: dict[str, NodeOpened | None]) -> DeviceNode:
    answer = opened.get(node.path)
    if answer is None:
        return node
    return replace(node, openable=answer.error is None, error=answer.error)
