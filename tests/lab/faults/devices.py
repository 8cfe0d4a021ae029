"""Device files, containers and the bus: what keeps a process from a GPU whose driver is well."""

from lab.bench import NOTHING, Fault
from lab.machines import NODES, Machine

CLOSED = "rm dev/{name} 2>/dev/null || {{ umount dev/{name}; rm dev/{name}; }}; mknod dev/{name} c 1 3; chown 1:1 dev/{name}; chmod 600 dev/{name}"
NO_DEVICE = {"cuInit": 100}
NO_NVML = {"nvmlInit_v2": 9, "cuInit": 100}


def closed(*names: str) -> Machine:
    """Device files of another user, which this process may not open: root without its privilege over files."""
    more = "\n".join(CLOSED.format(name=name) for name in names)
    return Machine(more=more, without=("dac_override",))


def file_instead(name: str) -> str:
    return f"umount dev/{name}; rm dev/{name}; echo > dev/{name}"


FAULTS = (
    Fault("nvidiactl-missing", "device-nodes-missing", scenario=NO_NVML, machine=Machine(nodes=("nvidia-uvm", "nvidia0"))),
    Fault(
        "nvidia0-missing",
        "device-nodes-missing",
        scenario={"gpus": 0, **NO_DEVICE},
        machine=Machine(nodes=("nvidiactl", "nvidia-uvm")),
    ),
    Fault(
        "nvidia-uvm-missing",
        "device-nodes-missing",
        scenario={"cuInit": 999},
        machine=Machine(nodes=("nvidiactl", "nvidia0"), uvm=False),
    ),
    Fault("all-nodes-missing-on-a-host", "device-nodes-missing", scenario=NO_NVML, machine=Machine(nodes=())),
    Fault(
        "nvidia0-is-an-ordinary-file", "device-nodes-missing", scenario=NO_DEVICE, machine=Machine(more=file_instead("nvidia0"))
    ),
    Fault(
        "nvidiactl-may-not-be-opened",
        "device-permission-denied",
        scenario={"nvmlInit_v2": 4, **NO_DEVICE},
        machine=closed("nvidiactl"),
    ),
    Fault(
        "nvidia0-may-not-be-opened",
        "device-permission-denied",
        scenario={"nvmlInit_v2": 4, **NO_DEVICE},
        machine=closed("nvidia0"),
    ),
    Fault("nothing-may-be-opened", "device-permission-denied", scenario={"nvmlInit_v2": 4, **NO_DEVICE}, machine=closed(*NODES)),
    Fault("nvidia-uvm-may-not-be-opened", "device-permission-denied", scenario={"cuInit": 999}, machine=closed("nvidia-uvm")),
    Fault("container-without-gpu", "container-without-gpu", scenario=NO_NVML, machine=Machine(container=True, nodes=())),
    Fault(
        "container-asked-for-a-gpu",
        "container-without-gpu",
        scenario=NO_NVML,
        machine=Machine(container=True, nodes=()),
        env={"NVIDIA_VISIBLE_DEVICES": "all"},
    ),
    Fault(
        "container-without-gpu-nor-bus",
        "no-nvidia-gpu",
        scenario=NO_NVML,
        machine=Machine(container=True, nodes=(), gpus=0, module=None),
    ),
    Fault("machine-without-gpu", "no-nvidia-gpu", scenario=NO_NVML, machine=Machine(nodes=(), gpus=0, module=None)),
    Fault(
        "machine-without-gpu-is-fine-with-allow-cpu",
        NOTHING,
        exit=0,
        scenario=NO_NVML,
        args=("--allow-cpu",),
        machine=Machine(nodes=(), gpus=0, module=None),
    ),
    Fault(
        "kernel-module-of-another-version",
        "driver-library-mismatch",
        scenario={"nvmlInit_v2": 18, "cuInit": 803},
        machine=Machine(module="535.54.03"),
    ),
    Fault("one-of-two-gpus-not-listed", "gpu-lost", scenario={"gpus": 1}, machine=Machine(gpus=2, nodes=(*NODES, "nvidia1"))),
    Fault("hidden-on-its-own-machine", "devices-hidden", machine=Machine(), env={"CUDA_VISIBLE_DEVICES": "-1"}),
    Fault(
        "driver-hangs-on-its-own-machine",
        "driver-unresponsive",
        scenario={"nvmlInit_v2": "hang", "cuInit": "hang"},
        args=("--timeout", "8"),
        limit_seconds=10.0,
        machine=Machine(),
    ),
)
