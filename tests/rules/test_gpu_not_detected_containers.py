"""Inside containers and on other platforms: no GPU in the machine, none passed in, or none possible."""

import pytest
from broken import BLIND, HOST, NO_DEVICE, NO_LIBRARIES, NO_NODES, codes, cuda, nvml, outcome, roots

from gpucheck.model import Severity, Status

BARE = {"container": {"inside": True, "kind": "docker", "gpu_requested": False}, "environment.variables": {}}
ASKED = {"container": {"inside": True, "kind": "docker", "nvidia_visible_devices": "all", "gpu_requested": True}}
NO_MODULE = {"kernel_module": {"loaded": False, "uvm_loaded": False, "nouveau_loaded": False}}
EMPTY_BUS = {"pci.gpus": [], **NO_MODULE}
ALLOW_CPU = {"request.allow_cpu": True}
NOTHING = {**BLIND, **NO_NODES, **NO_LIBRARIES}
AMD = {"pci.amd_gpus": [{"address": "0000:03:00.0", "vendor_id": "0x1002", "device_id": "0x744c"}]}
VFIO = {"pci.gpus[0].kernel_driver": "vfio-pci"}

CASES = {
    "no GPU in the machine, nothing asked for": ("no-nvidia-gpu", [BARE, EMPTY_BUS]),
    "no GPU in the machine, a driver library in the image": (
        "no-nvidia-gpu",
        [BARE, EMPTY_BUS, nvml(9, "NVML_ERROR_DRIVER_NOT_LOADED"), NO_DEVICE],
    ),
    "no GPU in the machine, a stub in the image": ("no-nvidia-gpu", [BARE, EMPTY_BUS, cuda(34, "CUDA_ERROR_STUB_LIBRARY")]),
    "no GPU on the bus, one asked for": ("container-without-gpu", [ASKED, EMPTY_BUS]),
    "a GPU on the bus, nothing passed in": ("container-without-gpu", [BARE]),
    "a GPU on the bus, one asked for": ("container-without-gpu", [ASKED]),
    "a GPU on the bus, no driver on the machine": ("container-without-gpu", [BARE, NO_MODULE]),
    "a GPU on the bus, TensorFlow's GPU image": ("container-without-gpu", [ASKED, cuda(34, "CUDA_ERROR_STUB_LIBRARY")]),
    "a GPU on the bus, a foreign libcuda": ("container-without-gpu", [BARE, cuda(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH")]),
    "a GPU on the bus, a libcuda that finds no device": ("container-without-gpu", [BARE, NO_DEVICE]),
    "a GPU on the bus, an NVML that is refused": ("container-without-gpu", [BARE, nvml(17, "NVML_ERROR_OPERATING_SYSTEM")]),
    "a sandbox without a bus": ("container-without-gpu", [BARE, {"pci": {"readable": False}}]),
    "the GPU belongs to a virtual machine": ("container-without-gpu", [ASKED, VFIO]),
    "the GPU belongs to a virtual machine, no container": ("driver-not-loaded", [HOST, VFIO]),
    "only an AMD GPU": ("rocm-gpu-unsupported", [BARE, EMPTY_BUS, AMD]),
    "Docker Desktop on WSL2's kernel": (
        "container-without-gpu",
        [BARE, EMPTY_BUS, {"wsl": {"inside": True, "version": 2, "distribution": False, "dxg_present": False}}],
    ),
}


@pytest.mark.parametrize("quick", [False, True], ids=["default", "quick"])
@pytest.mark.parametrize("case", CASES)
def test_container(case, quick):
    expected, changes = CASES[case]
    assert codes(NOTHING, *changes, quick=quick) == [expected]


@pytest.mark.parametrize("changes", [[EMPTY_BUS], [EMPTY_BUS, ASKED], [], [AMD, EMPTY_BUS]], ids=str)
def test_absence_is_no_fault_where_the_cpu_is_meant(changes):
    assert codes(NOTHING, BARE, *changes, ALLOW_CPU, quick=True) == []


def test_a_gpu_asked_for_and_not_passed_in_stays_a_fault():
    assert codes(NOTHING, ASKED, ALLOW_CPU, quick=True) == ["container-without-gpu"]


def test_container_that_was_given_only_some_device_files():
    some = {"device_nodes.gpus": []}
    assert codes(BARE, BLIND, NO_DEVICE, some) == ["device-nodes-missing"]


def test_control_group_that_took_the_gpu_away():
    lost = {
        "device_nodes.control": {"path": "/dev/nvidiactl", "present": True, "openable": False, "error": "EPERM"},
        "device_nodes.gpus[0]": {"path": "/dev/nvidia0", "present": True, "openable": False, "error": "EPERM"},
    }
    (finding,) = roots(ASKED, BLIND, NO_DEVICE, nvml(999, "NVML_ERROR_UNKNOWN"), lost)
    assert finding.code == "device-permission-denied"
    assert finding.summary == (
        "This container may not open /dev/nvidiactl and /dev/nvidia0: a device rule of its control group forbids it (EPERM)."
    )
    assert "Restart the container" in finding.fix[0].text


def test_slurm_job_without_a_gpu_is_told_to_ask_for_one():
    slurm = {"environment.variables": {"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "NoDevFiles"}}
    refused = {"device_nodes.gpus[0]": {"path": "/dev/nvidia0", "present": True, "openable": False, "error": "EPERM"}}
    for changes in ([refused, nvml(28, "NVML_ERROR_GPU_NOT_FOUND")], []):
        (finding,) = roots(HOST, BLIND, NO_DEVICE, slurm, *changes)
        assert finding.fix[0].command == "srun --gres=gpu:1 nvidia-smi -L"


def test_a_container_whose_gpu_works_has_nothing_to_say():
    assert codes(BARE, NO_NODES) == []  # the recorded machine's CUDA counts a GPU
    assert outcome("container-without-gpu", BARE, NO_NODES).status is Status.CLEAR


REMOTE = [BARE, BLIND, NO_NODES, EMPTY_BUS]  # a driver that answers with neither a device file nor a PCI function to see


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        (cuda(34, "CUDA_ERROR_STUB_LIBRARY"), "cuda-stub-loaded"),
        (cuda(999), "cuda-init-failed"),
        ({**nvml(18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH"), **cuda(803)}, "driver-library-mismatch"),
        ({**nvml(15, "NVML_ERROR_GPU_IS_LOST"), **cuda(999)}, "gpu-lost"),
        ({**NO_DEVICE, "environment.variables": {"CUDA_VISIBLE_DEVICES": ""}}, "devices-hidden"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_driver_that_answers_proves_the_device_below_it(changes, code):
    assert codes(*REMOTE, changes, quick=True) == [code]


def test_no_nvidia_gpu_needs_a_readable_bus():
    assert outcome("no-nvidia-gpu", HOST, NOTHING, {"pci": {"readable": False}}).status is Status.SKIPPED


@pytest.mark.parametrize("status", ["hung", "crashed"])
def test_a_driver_that_hangs_is_more_than_a_bus_without_a_gpu(status):
    silent = {"driver": {"status": status}, "cuda": {"status": status}, "gpus": None, "pci.gpus": []}
    assert outcome("no-nvidia-gpu", HOST, NOTHING, silent).status is Status.SKIPPED
    assert codes(HOST, NOTHING, silent, quick=True) == ["driver-unresponsive"]


def test_a_rocm_build_is_left_alone():
    rocm = {"packages.flavours": [{"name": "tensorflow-rocm", "version": "2.18.1", "folder": "/x"}]}
    assert outcome("rocm-gpu-unsupported", HOST, NOTHING, EMPTY_BUS, AMD, rocm).status is Status.SKIPPED
    assert outcome("rocm-gpu-unsupported", HOST, NOTHING, AMD).status is Status.CLEAR  # beside an NVIDIA GPU


WSL = {
    "inside": True,
    "version": 2,
    "distribution": True,
    "dxg_present": True,
    "libraries": ["libcuda.so.1", "libnvidia-ml.so.1"],
}
IN_WSL = {**HOST, **NO_NODES, "pci.gpus": [], "kernel_module": {"loaded": False}}


def test_wsl_that_works_has_no_finding():
    assert codes(IN_WSL, {"wsl": WSL}) == []
    assert codes(IN_WSL, {"wsl": WSL}, quick=True) == []


WSL_CASES = {
    "WSL1": ({"version": 1, "dxg_present": False, "libraries": []}, {}, "This is WSL1", True),
    "switched off": ({"dxg_present": False, "gpu_enabled": False}, {}, "enabled=false", True),
    "no device": ({"dxg_present": False}, {}, "/dev/dxg is missing", True),
    "no NVIDIA on Windows": ({"libraries": []}, {}, "no NVIDIA library", True),
    "not in the loader's list": ({}, {}, "the loader does not look there", False),
    "a Linux driver": (
        {"linux_driver_libraries": ["/usr/lib/x86_64-linux-gnu/libcuda.so.1"]},
        {**nvml(18, "x"), **cuda(803, library="/usr/lib/x86_64-linux-gnu/libcuda.so.1")},
        "A Linux NVIDIA driver was installed inside WSL",
        False,
    ),
}


@pytest.mark.parametrize("case", WSL_CASES)
def test_wsl(case):
    wsl, changes, words, absence = WSL_CASES[case]
    broken = [IN_WSL, NOTHING, {"wsl": {**WSL, **wsl}}, changes]
    for quick in (False, True):
        (finding,) = roots(*broken, quick=quick)
        assert finding.code == "wsl-misconfigured"
        assert words in finding.summary
    assert codes(*broken, ALLOW_CPU, quick=True) == ([] if absence else ["wsl-misconfigured"])


def test_wsl_whose_driver_refuses_for_no_known_reason():
    assert codes(IN_WSL, BLIND, {"wsl": WSL}, cuda(500, "CUDA_ERROR_NOT_FOUND")) == ["cuda-init-failed"]


WINDOWS = {"request.allow_cpu": False, "system": {"platform": "win32"}, "pci.readable": False, "kernel_module": {}}
MAC = {**WINDOWS, "system": {"platform": "darwin"}}


@pytest.mark.parametrize(("changes", "code"), [(WINDOWS, "windows-native-unsupported"), (MAC, "macos-no-cuda")])
def test_platform(changes, code):
    assert codes(changes, name="laptop-cpu", quick=True) == [code]
    assert codes(changes, ALLOW_CPU, name="laptop-cpu", quick=True) == []


def test_tensorflow_2_10_still_has_gpus_on_windows():
    assert outcome("windows-native-unsupported", WINDOWS, {"packages.tensorflow.version": "2.10.1"}).status is Status.CLEAR


def test_metal_plugin_is_asked_before_macos_is_blamed():
    metal = {"packages.others": [{"name": "tensorflow-metal", "version": "1.2.0", "folder": "/x"}]}
    assert outcome("macos-no-cuda", MAC, metal, name="laptop-cpu", quick=True).status is Status.SKIPPED
    assert outcome("macos-no-cuda", MAC, metal, name="laptop-cpu").status is Status.FOUND
    listed = {"tensorflow.devices": [{"name": "GPU:0", "kind": "GPU"}]}
    assert outcome("macos-no-cuda", MAC, metal, listed, name="laptop-cpu").status is Status.CLEAR


def test_warning_severity_is_not_used_for_a_missing_gpu():
    assert [finding.severity for finding in roots(NOTHING, BARE)] == [Severity.ERROR]


def test_driver_of_the_machine_comes_first_where_it_is_absent():
    for changes in ([NO_MODULE], [ASKED, EMPTY_BUS]):
        (finding,) = roots(NOTHING, BARE, *changes)
        assert finding.fix[0].command == "nvidia-smi"
    (finding,) = roots(NOTHING, BARE)
    assert finding.fix[0].command == "docker run --rm --gpus all ubuntu nvidia-smi"
    (finding,) = roots(NOTHING, {"container": {"inside": True, "kind": "kubernetes"}})
    assert finding.summary.startswith("This kubernetes container was given no GPU")
    assert "nvidia.com/gpu" in finding.fix[0].text


def test_sandbox_with_a_tpu_is_not_asked_for_a_gpu():
    sandbox = [NOTHING, BARE, {"pci": {"readable": False}, "tpu.expected": True}]
    assert outcome("container-without-gpu", *sandbox).status is Status.CLEAR
    assert outcome("rocm-gpu-unsupported", HOST, NOTHING, EMPTY_BUS, AMD, {"tpu.expected": True}).status is Status.CLEAR


def test_rocm_gpu_that_tensorflow_lists_works():
    listed = {"tensorflow.devices": [{"name": "GPU:0", "kind": "GPU"}]}
    assert outcome("rocm-gpu-unsupported", HOST, NOTHING, EMPTY_BUS, AMD, listed).status is Status.CLEAR
    assert outcome("rocm-gpu-unsupported", ASKED, NOTHING, EMPTY_BUS, AMD).status is Status.CLEAR  # container-without-gpu
    built = {"tensorflow.built_with_rocm": True}
    assert outcome("rocm-gpu-unsupported", HOST, NOTHING, EMPTY_BUS, AMD, built).status is Status.SKIPPED


def test_windows_gpu_that_tensorflow_lists_works():
    listed = {"tensorflow.devices": [{"name": "GPU:0", "kind": "GPU"}]}
    assert outcome("windows-native-unsupported", WINDOWS, listed, name="laptop-cpu").status is Status.CLEAR


def test_linux_driver_that_lies_unused_inside_wsl_is_not_blamed():
    unused = {"wsl": {**WSL, "linux_driver_libraries": ["/usr/lib/x86_64-linux-gnu/libcuda.so.1"]}}
    failed = cuda(999, library="/usr/lib/wsl/lib/libcuda.so.1.1")
    assert codes(IN_WSL, BLIND, unused, failed) == ["cuda-init-failed"]
    assert codes(IN_WSL, unused) == []  # CUDA works
