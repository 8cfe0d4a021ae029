"""Which layer below CUDA broke: neighbours told apart on a whole machine, judged by all rules."""

import pytest
from broken import (
    BLIND,
    HOST,
    NO_DEVICE,
    NO_LIBRARIES,
    NO_MODULE,
    NO_NODES,
    NOTHING_INSTALLED,
    NVML_NOT_LOADED,
    PASCAL,
    codes,
    cuda,
    nvml,
    outcome,
)

from gpucheck.model import Status

LAYERS = {
    "nothing installed": ("driver-missing", NOTHING_INSTALLED),
    "nothing installed but a toolkit's stub": (
        "driver-missing",
        {**NOTHING_INSTALLED, "cuda": {"status": "failed", "result": 34, "library": "/opt/cuda/stubs/libcuda.so.1"}},
    ),
    "libraries without a module": ("driver-not-loaded", {**NOTHING_INSTALLED, **NVML_NOT_LOADED, **cuda(999)}),
    "a module without libraries, not loaded": (
        "driver-not-loaded",
        {**NOTHING_INSTALLED, "kernel_module": {**NO_MODULE, "installed_for_running_kernel": True}},
    ),
    "libcuda without NVML or module": ("driver-not-loaded", {**NOTHING_INSTALLED, **cuda(999)}),
    "NVML without libcuda or module": ("driver-not-loaded", {**NOTHING_INSTALLED, "driver": NVML_NOT_LOADED["driver"]}),
    "a module for another kernel only": (
        "driver-not-loaded",
        {**NOTHING_INSTALLED, "kernel_module": {**NO_MODULE, "installed_for_kernels": ["6.8.0-1"]}},
    ),
    "nouveau holds the card, nvidia loaded too": (
        "driver-not-loaded",
        {**NVML_NOT_LOADED, **cuda(999), "pci.gpus[0].kernel_driver": "nouveau", "kernel_module.gpu_addresses": []},
    ),
    "nouveau holds the card, driver installed": (
        "driver-not-loaded",
        {
            **NOTHING_INSTALLED,
            **NVML_NOT_LOADED,
            **cuda(999),
            "kernel_module": {**NO_MODULE, "nouveau_loaded": True},
            "pci.gpus[0].kernel_driver": "nouveau",
        },
    ),
    "handed to a virtual machine": ("driver-not-loaded", {**NOTHING_INSTALLED, "pci.gpus[0].kernel_driver": "vfio-pci"}),
    "handed over, module loaded": (
        "driver-not-loaded",
        {**nvml(28, "NVML_ERROR_GPU_NOT_FOUND"), **NO_DEVICE, "pci.gpus[0].kernel_driver": "vfio-pci", "device_nodes.gpus": []},
    ),
    "Pascal on the open module": (
        "driver-not-loaded",
        PASCAL,
    ),
    "module without libcuda": ("driver-library-missing", {"cuda": {"status": "library-not-found"}}),
    "module without any library": ("driver-library-missing", NO_LIBRARIES),
    "NVML 18 alone": ("driver-library-mismatch", {**nvml(18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH"), **cuda(999)}),
    "cuInit 803, NVML fine": ("driver-library-mismatch", cuda(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH")),
    "cuInit 804": ("driver-library-mismatch", cuda(804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE")),
    "cuInit 802": ("fabric-manager-down", cuda(802, "CUDA_ERROR_SYSTEM_NOT_READY")),
    "NVML 27 beside NVSwitches": (
        "fabric-manager-down",
        {
            **nvml(27, "NVML_ERROR_NOT_READY"),
            **cuda(999),
            "pci.nvswitches": [{"address": "0000:07:00.0", "vendor_id": "0x10de", "device_id": "0x22a3"}],
        },
    ),
    "cuInit 34": ("cuda-stub-loaded", cuda(34, "CUDA_ERROR_STUB_LIBRARY")),
    "cuInit 999 for no reason": ("cuda-init-failed", cuda(999)),
    "cuInit 100 for no reason": ("cuda-init-failed", NO_DEVICE),
    "no nvidia-uvm": ("device-nodes-missing", {**cuda(999), "device_nodes.uvm": {"path": "/dev/nvidia-uvm", "present": False}}),
    "no nvidia0": (
        "device-nodes-missing",
        {**NO_DEVICE, "device_nodes.gpus[0]": {"path": "/dev/nvidia0", "present": False}},
    ),
    "nvidia0 without a device behind it": (
        "device-nodes-missing",
        {**NO_DEVICE, "device_nodes.gpus[0]": {"path": "/dev/nvidia0", "present": True, "openable": False, "error": "ENXIO"}},
    ),
    "nvidia0 refused": (
        "device-permission-denied",
        {**NO_DEVICE, "device_nodes.gpus[0]": {"path": "/dev/nvidia0", "present": True, "openable": False, "error": "EPERM"}},
    ),
    "nvidia-uvm refused": (
        "device-permission-denied",
        {**cuda(999), "device_nodes.uvm": {"path": "/dev/nvidia-uvm", "present": True, "openable": False, "error": "EACCES"}},
    ),
    "NVML 17": (
        "device-permission-denied",
        {**nvml(17, "NVML_ERROR_OPERATING_SYSTEM"), **cuda(304, "CUDA_ERROR_OPERATING_SYSTEM")},
    ),
    "NVML 15 at its start": ("gpu-lost", {**nvml(15, "NVML_ERROR_GPU_IS_LOST"), **cuda(999)}),
    "nvidia0 answers EIO": (
        "gpu-lost",
        {
            **nvml(28, "NVML_ERROR_GPU_NOT_FOUND"),
            **NO_DEVICE,
            "device_nodes.gpus[0]": {"path": "/dev/nvidia0", "present": True, "openable": False, "error": "EIO"},
        },
    ),
    "the driver holds a GPU that NVML leaves out": ("gpu-lost", {**nvml(28, "NVML_ERROR_GPU_NOT_FOUND"), **NO_DEVICE}),
    "NVML hangs on one GPU, CUDA too": (
        "driver-unresponsive",
        {"driver.status": "hung", "cuda": {"status": "hung"}, "gpus.gpus[0]": {"index": 0, "problem": "no answer within 20 s"}},
    ),
    "cuInit takes the process down": ("driver-unresponsive", {"cuda": {"status": "crashed", "problem": "SIGSEGV"}}),
    "opening nvidia0 hangs": (
        "driver-unresponsive",
        {**cuda(999), "device_nodes.ending": "timed out", "device_nodes.hung_on": "/dev/nvidia0"},
    ),
    "a driver of 2021": ("driver-too-old", {"driver.version": "470.256.02", "cuda.driver_version": "11.4"}),
}


@pytest.mark.parametrize("quick", [False, True], ids=["default", "quick"])
@pytest.mark.parametrize("case", LAYERS)
def test_layer(case, quick):
    expected, changes = LAYERS[case]
    assert codes(HOST, BLIND, changes, quick=quick) == [expected]


PERMISSIVE = {
    "no kernel module is loaded": {"kernel_module": NO_MODULE},
    "no device file is seen": NO_NODES,
    "the bus is not readable": {"pci": {"readable": False}},
    "NVML is absent and the bus is empty": {"pci.gpus": [], "driver": {"status": "library-not-found"}, "gpus.gpus": []},
    "device files are refused": {
        "device_nodes.control": {"path": "/dev/nvidiactl", "present": True, "openable": False, "error": "EPERM"}
    },
    "versions differ": {"kernel_module.version": "580.1"},
    "the GPU hangs on vfio-pci in this view": {"pci.gpus[0].kernel_driver": "vfio-pci"},
}


@pytest.mark.parametrize("case", PERMISSIVE)
def test_cuda_that_counts_a_gpu_proves_the_layers_below_it(case):
    """A missing node, module or PCI function is no finding where CUDA works (WSL, remote and virtual GPUs)."""
    found = codes(HOST, PERMISSIVE[case])
    assert [code for code in found if code not in ("driver-library-missing",)] == []


def test_a_container_may_be_given_fewer_gpus_than_the_bus_shows():
    assert codes(BLIND, {**nvml(28, "NVML_ERROR_GPU_NOT_FOUND"), **NO_DEVICE}, quick=True) == ["cuda-init-failed"]


def test_gpu_without_an_address_is_not_taken_for_a_missing_one():
    assert codes(HOST, {"gpus.gpus[0].pci_address": None}, quick=True) == []


def test_wsl_answers_999_to_much():
    wsl = {"wsl": {"inside": True, "version": 2, "dxg_present": True, "libraries": ["libcuda.so.1"]}, "pci.gpus": []}
    unknown = {"gpus.gpus[0]": {"index": 0, "result": 999, "problem": "Unknown Error"}}
    assert codes(HOST, NO_NODES, wsl, unknown, quick=True) == []
    assert codes(HOST, unknown, quick=True) == ["gpu-lost"]


def test_fabric_is_not_blamed_without_a_fabric():
    not_ready = {**nvml(27, "NVML_ERROR_NOT_READY"), **cuda(999)}
    assert codes(HOST, BLIND, not_ready, quick=True) == ["cuda-init-failed"]
    logged = {"log.events": [{"kind": "fabric-not-ready", "line": 1, "text": "system not yet initialized", "fields": {}}]}
    assert codes(HOST, BLIND, cuda(999), logged) == ["fabric-manager-down"]
    assert outcome("fabric-manager-down", HOST, logged).status is Status.CLEAR  # CUDA counts a GPU by now
