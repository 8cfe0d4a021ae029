"""TPU chips, device nodes, runtime packages and environment. Only reads; ``tpu_resolver`` connects."""

from gpucheck.core.compat.tpu import LOCK_FILE, VENDOR, generation
from gpucheck.core.host import Host
from gpucheck.core.model import Fact, Level
from gpucheck.core.model.plugin import probe
from gpucheck.core.probes._distributions import installed
from gpucheck.core.probes.pci import DEVICES, functions

TPU_VARIABLES = ("TPU_NAME", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_ACCELERATOR_TYPE", "TPU_CONFIG", "COLAB_TPU_ADDR")

PACKAGES = ("tensorflow-tpu", "libtpu", "libtpu-nightly")


class Tpu(Fact, frozen=True, kw_only=True):
    """The signs of a TPU on this machine, and its runtime."""

    generations: tuple[str, ...] = ()  # one per chip on the PCI bus: "v5e"
    nodes: tuple[str, ...] = ()  # /dev/accel*, or /dev/vfio/<n> if a chip is on the bus
    variables: tuple[str, ...] = ()  # names of set variables that configure a TPU
    expected: bool = False  # a chip on the bus, an accel node, or a variable that configures a TPU
    tensorflow_tpu: str | None = None  # version of tensorflow-tpu
    libtpu: str | None = None  # version of the libtpu package
    libtpu_path: str | None = None  # TPU_LIBRARY_PATH, or the package's libtpu.so
    lock_file: str | None = None  # /tmp/libtpu_lockfile, if present
    lock_owner: str | None = None  # user name of its owner, if not this user
    holder_pid: int | None = None  # a process that has a chip's node open, if this process may see it


@probe(level=Level.NODE)
def read(host: Host) -> Tpu:
    """Read the PCI bus, /dev, the environment and the package metadata."""
    google = functions(host, host.names(DEVICES), (VENDOR,))  # also network cards: the device id identifies chips
    chips = [generation(function.device_id, function.subsystem_device_id) for function in google]
    generations = tuple(chip.name for chip in chips if chip is not None)
    nodes = host.glob("/dev/accel[0-9]*")
    if generations:  # without a chip, a VFIO group is another device passed to a virtual machine
        nodes += host.glob("/dev/vfio/[0-9]*")
    variables = _configured(host)
    interpreter = host.interpreter()
    distributions = installed(host, () if isinstance(interpreter, str) else interpreter.path, PACKAGES)
    tensorflow_tpu = distributions.get("tensorflow-tpu")
    libtpu = distributions.get("libtpu") or distributions.get("libtpu-nightly")
    packaged = f"{libtpu.folder}/libtpu/libtpu.so" if libtpu else ""
    lock = host.stat(LOCK_FILE)
    return Tpu(
        generations=generations,
        nodes=tuple(nodes),
        variables=variables,
        expected=bool(generations or nodes or variables),
        tensorflow_tpu=tensorflow_tpu.version if tensorflow_tpu else None,
        libtpu=libtpu.version if libtpu else None,
        libtpu_path=host.env.get("TPU_LIBRARY_PATH") or (packaged if packaged and host.stat(packaged) else None),
        lock_file=LOCK_FILE if lock else None,
        lock_owner=lock.owner if lock and lock.uid != host.user() else None,
        holder_pid=_holder(host, set(nodes)) if nodes else None,
    )


def _configured(host: Host) -> tuple[str, ...]:
    names = [name for name in TPU_VARIABLES if host.env.get(name)]
    if host.env.get("TPU_WORKER_ID") and host.env.get("TPU_WORKER_HOSTNAMES"):
        names += ["TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES"]
    if host.env.get("PJRT_DEVICE", "").upper() == "TPU":
        names.append("PJRT_DEVICE")
    return tuple(names)


def _holder(host: Host, nodes: set[str]) -> int | None:
    """Return a process that has one of the nodes open, other than this run's children, which may be connecting."""
    ours = host.link("/proc/self")
    for pid in filter(str.isdigit, host.names("/proc")):
        if any(host.link(f"/proc/{pid}/fd/{number}") in nodes for number in host.names(f"/proc/{pid}/fd")):
            status = host.read(f"/proc/{pid}/status") or ""
            if pid != ours and f"\nPPid:\t{ours}\n" not in status:
                return int(pid)
    return None
