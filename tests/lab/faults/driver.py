"""The driver below everything: its libraries, its kernel module, and what NVML and cuInit answer where they fail."""

from lab.bench import NO_SMOKE, NOTHING, Fault, Trial
from lab.environments import replace
from lab.machines import NODES, Machine

HOST = Machine()
DEAD = {"nvmlInit_v2": 9, "cuInit": 100}


def without_libraries(*names: str):
    """The driver's folder without some of its libraries."""

    def build(trial: Trial) -> None:
        trial.driver = trial.folder / "driver"
        trial.driver.mkdir()
        for library in trial.bench.driver.glob("*.so.1"):
            if library.name not in names:
                (trial.driver / library.name).symlink_to(library)

    return build


def wrong_library(name: str, content: bytes):
    """A file that is no library in the place of one of the driver's."""

    def build(trial: Trial) -> None:
        without_libraries(name)(trial)
        replace(trial.driver / name, content)

    return build


def own_interpreter(trial: Trial) -> None:
    """The command as it is typed, without --python."""
    trial.python = ""


FAULTS = (
    # NVML's own codes, with CUDA failing as it does then.
    Fault("nvml-9-module-not-loaded", "driver-not-loaded", scenario=DEAD, machine=Machine(module=None, bound=None, nodes=())),
    Fault(
        "nvml-9-nouveau-holds-the-gpu",
        "driver-not-loaded",
        scenario=DEAD,
        machine=Machine(module=None, bound="nouveau", nodes=()),
    ),
    Fault("nvml-9-vfio-holds-the-gpu", "driver-not-loaded", scenario=DEAD, machine=Machine(bound="vfio-pci")),
    Fault("nvml-4-no-permission", "device-permission-denied", scenario={"nvmlInit_v2": 4, "cuInit": 100}, machine=HOST),
    Fault(
        "nvml-17-operating-system-blocks", "device-permission-denied", scenario={"nvmlInit_v2": 17, "cuInit": 100}, machine=HOST
    ),
    Fault("nvml-15-gpu-is-lost", "gpu-lost", scenario={"nvmlInit_v2": 15, "cuInit": 999}, machine=HOST),
    Fault(
        "nvml-16-reset-required", "gpu-lost", scenario={"gpu.0.nvmlDeviceGetHandleByIndex_v2": 16, "cuInit": 999}, machine=HOST
    ),
    Fault(
        "nvml-18-versions-differ",
        "driver-library-mismatch",
        scenario={"nvmlInit_v2": 18, "cuInit": 803},
        machine=Machine(module="570.86.15"),
    ),
    Fault(
        "nvml-27-fabric-not-ready",
        "fabric-manager-down",
        scenario={"nvmlInit_v2": 27, "cuInit": 802},
        machine=Machine(gpus=8, nvswitches=4, nodes=(*NODES, *(f"nvidia{n}" for n in range(1, 8)))),
    ),
    Fault("nvml-28-gpu-not-found", "gpu-lost", scenario={"nvmlInit_v2": 28, "cuInit": 999}, machine=HOST),
    Fault("nvml-999-and-cuda-999", "cuda-init-failed", scenario={"nvmlInit_v2": 999, "cuInit": 999}, machine=HOST),
    # The libraries' half of the driver.
    Fault(
        "no-driver-at-all",
        "driver-missing",
        machine=Machine(module=None, bound=None, nodes=()),
        build=without_libraries("libcuda.so.1", "libnvidia-ml.so.1"),
    ),
    Fault(
        "no-driver-and-nouveau",
        "driver-missing",
        machine=Machine(module=None, bound="nouveau", nodes=()),
        build=without_libraries("libcuda.so.1", "libnvidia-ml.so.1"),
    ),
    Fault(
        "both-driver-libraries-missing",
        "driver-library-missing",
        machine=HOST,
        build=without_libraries("libcuda.so.1", "libnvidia-ml.so.1"),
    ),
    Fault("libcuda-missing", "driver-library-missing", machine=HOST, build=without_libraries("libcuda.so.1")),
    Fault(
        "libnvidia-ml-missing",
        "driver-library-missing",
        exit=0,
        verdict="warn",
        machine=HOST,
        build=without_libraries("libnvidia-ml.so.1"),
    ),
    Fault("libcuda-is-an-empty-file", "driver-library-missing", machine=HOST, build=wrong_library("libcuda.so.1", b"")),
    Fault(
        "libcuda-is-a-text",
        "driver-library-missing",
        machine=HOST,
        build=wrong_library("libcuda.so.1", b"<html>404 Not Found</html>\n"),
    ),
    # cuInit's codes on a machine whose NVML is well.
    Fault("cuinit-2-out-of-memory", "cuda-init-failed", scenario={"cuInit": 2}),
    Fault("cuinit-3-not-initialized", "cuda-init-failed", scenario={"cuInit": 3}),
    Fault("cuinit-34-stub-library", "cuda-stub-loaded", scenario={"cuInit": 34}),
    Fault("cuinit-46-device-unavailable", "compute-mode-exclusive", scenario={"cuInit": 46, "gpu.0.compute_mode": 3}),
    Fault("cuinit-100-no-reason", "cuda-init-failed", scenario={"cuInit": 100}, machine=HOST),
    Fault("cuinit-101-no-reason", "cuda-init-failed", scenario={"cuInit": 101}),
    Fault("cuinit-303-shared-object-init-failed", "cuda-init-failed", scenario={"cuInit": 303}),
    Fault("cuinit-802-system-not-ready", "fabric-manager-down", scenario={"cuInit": 802, "gpu.*.fabric_state": 2}),
    Fault("cuinit-803-driver-mismatch", "driver-library-mismatch", scenario={"cuInit": 803}),
    Fault("cuinit-804-forward-compatibility", "driver-library-mismatch", scenario={"cuInit": 804}),
    Fault("cuinit-805-mps-server", "cuda-init-failed", scenario={"cuInit": 805}),
    Fault("cuinit-999-no-reason", "cuda-init-failed", scenario={"cuInit": 999}, machine=HOST),
    Fault("cuda-counts-no-device", "cuda-init-failed", scenario={"cuDeviceGetCount": 3}),
    # Old drivers count their GPUs, and can't run CUDA 12.
    Fault("driver-450", "driver-too-old", scenario={"driver_version": "450.80.02", "cuda_version": 11000}),
    Fault("driver-470", "driver-too-old", scenario={"driver_version": "470.256.02", "cuda_version": 11040}),
    Fault("driver-515", "driver-too-old", scenario={"driver_version": "515.105.01", "cuda_version": 11070}),
    Fault(
        "driver-515-where-nvml-cannot-say-its-cuda",
        "driver-too-old",
        scenario={"driver_version": "515.105.01", "cuda_version": 11070, "nvmlSystemGetCudaDriverVersion_v2": 3},
    ),
)

HANGS = ("--timeout", "8")

FAULTS += tuple(
    Fault(f"{deed}-in-{function}", "driver-unresponsive", scenario={function: deed}, args=HANGS, limit_seconds=10.0)
    for function in ("nvmlInit_v2", "nvmlDeviceGetCount_v2", "gpu.0.nvmlDeviceGetMemoryInfo_v2", "cuInit", "cuDeviceGetCount")
    for deed in ("hang", "segv", "abort")
    if (function, deed) not in (("nvmlDeviceGetCount_v2", "abort"), ("cuDeviceGetCount", "abort"))
)
FAULTS += tuple(
    Fault(
        f"{deed}-in-nvmlInit-under-gpuchecks-own-interpreter",
        "driver-unresponsive",
        scenario={"nvmlInit_v2": deed},
        args=HANGS,
        limit_seconds=10.0,
        verdict="fail",
        build=own_interpreter,
    )
    for deed in ("hang", "segv", "abort")
)
FAULTS += (
    Fault(
        "everything-hangs-and-the-bus-shows-no-gpu",
        "driver-unresponsive",
        scenario={"nvmlInit_v2": "hang", "cuInit": "hang"},
        args=HANGS,
        limit_seconds=10.0,
        machine=Machine(gpus=0),
    ),
    Fault(
        "everything-hangs",
        "driver-unresponsive",
        scenario={"nvmlInit_v2": "hang", "cuInit": "hang"},
        args=HANGS,
        limit_seconds=10.0,
    ),
    Fault(
        "hang-in-the-last-of-8-gpus",
        "driver-unresponsive",
        scenario={"gpus": 8, "gpu.7.nvmlDeviceGetName": "hang"},
        args=HANGS,
        limit_seconds=10.0,
    ),
    Fault("nvml-exits-the-process", "driver-unresponsive", scenario={"nvmlInit_v2": "exit:0"}),
    Fault("nvml-is-killed", "driver-unresponsive", scenario={"nvmlInit_v2": "kill"}),
    Fault("bus-error-in-cuda", "driver-unresponsive", scenario={"cuInit": "bus"}),
    Fault("nvml-and-libcuda-crash", "driver-unresponsive", scenario={"nvmlInit_v2": "segv", "cuInit": "abort"}, machine=HOST),
    Fault(
        "driver-hangs-below-tensorflow-too",
        "driver-unresponsive",
        level=NO_SMOKE,
        scenario={"nvmlInit_v2": "hang"},
        args=("--timeout", "15"),
        limit_seconds=17.0,
    ),
    Fault(  # the witnesses come through another door of NVML
        "only-tensorflow-hangs",
        NOTHING,
        exit=3,
        verdict="unknown",
        level=NO_SMOKE,
        scenario={"nvmlInit": "hang"},
        args=("--timeout", "12"),
        limit_seconds=14.0,
    ),
)
