"""Other hardware, containers, WSL, and machines that hide parts of themselves."""

import os

from lab import fake_driver
from lab.bench import DEFAULT, NO_SMOKE, NOTHING, Fault, Trial
from lab.faults.driver import without_libraries
from lab.machines import NODES, Machine

NO_NVML = {"nvmlInit_v2": 9, "cuInit": 100}
NO_DRIVER = without_libraries("libcuda.so.1", "libnvidia-ml.so.1")
BARE = Machine(gpus=0, module=None, nodes=())
AMD = BARE._replace(others=(("0x1002", "0x740f", "0x038000", "amdgpu"),))
TPU = BARE._replace(
    others=(("0x1ae0", "0x0063", "0x120000", "vfio-pci"),),
    more="mkdir dev/vfio; : > dev/vfio/0; mount --bind /dev/null dev/vfio/0",
)
EIGHT = (*NODES, *(f"nvidia{number}" for number in range(1, 8)))


def in_wsl(**env: str) -> dict[str, str | None]:
    """What WSL puts into every shell."""
    return {"WSL_DISTRO_NAME": "Ubuntu", "WSL_INTEROP": "/run/WSL/8_interop", **env}


def shell(line: str):
    """A line of shell before the command."""

    def build(trial: Trial) -> None:
        trial.shell(line)

    return build


def stub_folder_first(trial: Trial) -> None:
    """The toolkit's folder of stubs at the head of LD_LIBRARY_PATH, as for linking."""
    folder = trial.folder / "cuda/lib64/stubs"
    folder.mkdir(parents=True)
    fake_driver.compile_library(folder / "libcuda.so.1", "int cuInit(unsigned flags) { return 34; }\n")
    trial.driver = folder
    trial.search_first(trial.bench.driver)


def compat_folder_first(trial: Trial) -> None:
    """The forward-compatibility libcuda of an image, which this GPU does not accept."""
    folder = trial.folder / "cuda/compat"
    folder.mkdir(parents=True)
    fake_driver.compile_library(folder / "libcuda.so.1", "int cuInit(unsigned flags) { return 804; }\n")
    trial.driver = folder
    trial.search_first(trial.bench.driver)


FAULTS = (
    Fault("amd-gpu-only", "rocm-gpu-unsupported", build=NO_DRIVER, machine=AMD),
    Fault("tpu-without-its-runtime", "tpu-runtime-missing", build=NO_DRIVER, machine=TPU),
    Fault(
        "tpu-announced-and-absent",
        "tpu-not-found",
        build=NO_DRIVER,
        machine=BARE,
        env={"TPU_NAME": "local", "TPU_ACCELERATOR_TYPE": "v5litepod-8"},
    ),
    Fault("wsl-without-the-gpu-device", "wsl-misconfigured", build=NO_DRIVER, machine=BARE, env=in_wsl()),
    Fault(
        "volta-under-the-open-module",
        "driver-not-loaded",
        scenario=NO_NVML,
        machine=Machine(gpus=0, others=(("0x10de", "0x1db6", "0x030200", None),), nodes=("nvidiactl", "nvidia-uvm")),
    ),
    Fault(
        "kubernetes-pod-without-gpu",
        "container-without-gpu",
        scenario=NO_NVML,
        machine=Machine(container=True, nodes=()),
        env={"KUBERNETES_SERVICE_HOST": "10.0.0.1"},
    ),
    Fault(
        "container-without-the-compute-capability",
        "driver-library-missing",
        machine=Machine(container=True),
        build=without_libraries("libcuda.so.1"),
        env={"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "utility"},
    ),
    Fault(
        "container-with-visible-devices-none",
        "devices-hidden",
        scenario={"gpus": 0, "cuInit": 100},
        machine=Machine(container=True, nodes=("nvidiactl", "nvidia-uvm")),
        env={"NVIDIA_VISIBLE_DEVICES": "none"},
    ),
    Fault(
        "container-with-tiny-shared-memory",
        "shared-memory-too-small",
        scenario={"gpus": 8},
        machine=Machine(container=True, gpus=8, nodes=EIGHT, more="mount -t tmpfs -o size=64m lab dev/shm"),
    ),
    Fault(
        "nodes-without-a-device-behind",
        "device-nodes-missing",
        scenario={"cuInit": 100},
        machine=Machine(nodes=("nvidiactl", "nvidia-uvm"), more="mknod dev/nvidia0 c 500 77 && chmod 666 dev/nvidia0"),
    ),
    Fault("stubs-first-on-the-path", "cuda-stub-loaded", build=stub_folder_first),
    Fault("compat-libcuda-first-on-the-path", "driver-library-mismatch", build=compat_folder_first),
    # Odd, and no fault.
    Fault("no-proc", NOTHING, exit=0, machine=Machine(more="mount -t tmpfs lab proc")),
    Fault("no-sys", NOTHING, exit=0, machine=Machine(more="mount -t tmpfs lab sys")),
    Fault("folder-deleted-under-the-shell", NOTHING, exit=0, build=shell('mkdir gone; cd gone; rmdir "$PWD"')),
    Fault("warnings-are-errors", NOTHING, exit=0, env={"PYTHONWARNINGS": "error"}),
    Fault("docstrings-stripped", NOTHING, exit=0, env={"PYTHONOPTIMIZE": "2"}),
    Fault("locale-c-and-no-utf8", NOTHING, exit=0, env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    Fault(
        "variable-that-is-no-text",
        NOTHING,
        exit=0,
        env={"TF_CPP_VMODULE": os.fsdecode(b"\xff\xfe"), "NCCL_DEBUG": os.fsdecode(b"\xc3")},
    ),
    Fault("preload-that-does-not-exist", NOTHING, exit=0, env={"LD_PRELOAD": "/no/such/library.so"}),
    Fault("standard-input-closed", NOTHING, exit=0, build=shell("exec <&-")),
    Fault("standard-error-closed", NOTHING, exit=0, build=shell("exec 2>&-")),
    Fault("no-place-for-temporary-files", NOTHING, exit=0, env={"TMPDIR": "/nonexistent"}),
    Fault("empty-path", NOTHING, exit=0, env={"PATH": ""}),
    Fault("no-proc-tensorflow-asked", NOTHING, exit=0, level=NO_SMOKE, machine=Machine(more="mount -t tmpfs lab proc")),
    # A GPU that is listed and can't compute, because it is the fake one: what never ends is no proof of anything.
    Fault(
        "gpu-that-never-finishes", NOTHING, exit=3, verdict="unknown", level=DEFAULT, args=("--timeout", "25"), limit_seconds=27.0
    ),
)
