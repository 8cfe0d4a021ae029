"""Which layer below CUDA broke: neighbours of the driver rules told apart, on a whole machine and judged by all rules."""

import pytest
from broken import BLIND, HOST, NO_DEVICE, NO_LIBRARIES, NO_NODES, codes, cuda, nvml, outcome, roots
from fakes import machine

from gpucheck.model import Severity, Status

NO_MODULE = {"loaded": False, "uvm_loaded": False, "nouveau_loaded": False, "installed_for_running_kernel": False}
NOTHING_INSTALLED = {**NO_NODES, **NO_LIBRARIES, "kernel_module": NO_MODULE, "pci.gpus[0].kernel_driver": None}
NVML_9 = {"driver": {"status": "failed", "result": 9, "result_name": "NVML_ERROR_DRIVER_NOT_LOADED"}, "gpus.gpus": []}

LAYERS = {
    "nothing installed": ("driver-missing", NOTHING_INSTALLED),
    "nothing installed but a toolkit's stub": (
        "driver-missing",
        {**NOTHING_INSTALLED, "cuda": {"status": "failed", "result": 34, "library": "/opt/cuda/stubs/libcuda.so.1"}},
    ),
    "libraries without a module": ("driver-not-loaded", {**NOTHING_INSTALLED, **NVML_9, **cuda(999)}),
    "a module without libraries, not loaded": (
        "driver-not-loaded",
        {**NOTHING_INSTALLED, "kernel_module": {**NO_MODULE, "installed_for_running_kernel": True}},
    ),
    "libcuda without NVML or module": ("driver-not-loaded", {**NOTHING_INSTALLED, **cuda(999)}),
    "NVML without libcuda or module": ("driver-not-loaded", {**NOTHING_INSTALLED, "driver": NVML_9["driver"]}),
    "a module for another kernel only": (
        "driver-not-loaded",
        {**NOTHING_INSTALLED, "kernel_module": {**NO_MODULE, "installed_for_kernels": ["6.8.0-1"]}},
    ),
    "nouveau holds the card, nvidia loaded too": (
        "driver-not-loaded",
        {**NVML_9, **cuda(999), "pci.gpus[0].kernel_driver": "nouveau", "kernel_module.gpu_addresses": []},
    ),
    "nouveau holds the card, driver installed": (
        "driver-not-loaded",
        {
            **NOTHING_INSTALLED,
            **NVML_9,
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
        {
            **nvml(28, "NVML_ERROR_GPU_NOT_FOUND"),
            **NO_DEVICE,
            "pci.gpus[0].kernel_driver": None,
            "pci.gpus[0].device_id": "0x1b06",
            "kernel_module.gpu_addresses": [],
            "device_nodes.gpus": [],
        },
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


def test_nvml_alone_missing_is_a_warning():
    (finding,) = roots(HOST, {"driver": {"status": "library-not-found"}, "gpus.gpus": []})
    assert (finding.code, finding.severity) == ("driver-library-missing", Severity.WARNING)
    assert "libnvidia-ml.so.1" in finding.summary


def test_unknown_state_of_the_module_is_skipped_not_clear():
    assert outcome("driver-missing", HOST, BLIND, NOTHING_INSTALLED, {"kernel_module": {}}).status is Status.SKIPPED
    assert outcome("driver-not-loaded", HOST, BLIND, NOTHING_INSTALLED, {"kernel_module": {}}).status is Status.SKIPPED


def test_legacy_gpu_is_told_which_branch():
    legacy = LAYERS["Pascal on the open module"][1]
    (finding,) = roots(HOST, BLIND, legacy)
    assert finding.summary == (
        "The NVIDIA open kernel module 580.159.04 does not support the GPU at 0000:00:06.0, which is older than Turing."
    )
    assert finding.fix[0].command == "sudo apt-get install -y nvidia-driver-580"
    newer = {"kernel_module.open_source": False, "kernel_module.version": "590.44.01"}
    (finding,) = roots(HOST, BLIND, legacy, newer)
    assert "The NVIDIA driver 590.44.01 does not support" in finding.summary
    assert finding.fix[0].command == "sudo apt-get install -y nvidia-driver-580"


def test_nouveau_is_named_and_kept_away():
    held = {"pci.gpus[0].kernel_driver": "nouveau"}
    for changes, words in (
        ([NVML_9, cuda(999)], "is loaded, but nouveau holds the GPU at 0000:00:06.0."),
        ([NOTHING_INSTALLED, NVML_9], "not loaded: the nouveau driver holds the GPU"),
    ):
        (finding,) = roots(HOST, BLIND, *changes, held)
        assert words in finding.summary
        assert "blacklist nouveau" in finding.fix[0].command


def test_old_gpu_on_a_driver_that_knows_it_is_not_called_unsupported():
    proprietary = {"kernel_module.open_source": False}
    (finding,) = roots(HOST, BLIND, LAYERS["Pascal on the open module"][1], proprietary)
    assert "did not take the GPU" in finding.summary


def test_turing_that_was_not_taken_is_not_called_legacy():
    (finding,) = roots(HOST, BLIND, LAYERS["Pascal on the open module"][1], {"pci.gpus[0].device_id": "0x1eb8"})
    assert finding.code == "driver-not-loaded"
    assert "did not take the GPU" in finding.summary


def test_seven_of_eight_on_vfio_are_a_choice():
    gpus = [
        {"address": f"0000:0{n}:00.0", "vendor_id": "0x10de", "device_id": "0x2335", "kernel_driver": "vfio-pci"}
        for n in range(1, 8)
    ]
    assert codes(HOST, {"pci.gpus": [machine("h200")["pci"]["gpus"][0], *gpus]}) == []


def test_one_lost_gpu_of_two_is_named():
    second = {"address": "0000:00:07.0", "vendor_id": "0x10de", "device_id": "0x2335", "kernel_driver": "nvidia"}
    plain = machine("h200")
    lost = {"index": 1, "problem": "GPU is lost", "result": 15, "pci_address": "0000:00:07.0"}
    (finding,) = roots(HOST, {"pci.gpus": [*plain["pci"]["gpus"], second], "gpus.gpus": [*plain["gpus"]["gpus"], lost]})
    assert (finding.code, finding.affects) == ("gpu-lost", ("GPU 1",))
    assert finding.summary == "GPU 1 at 0000:00:07.0 no longer answers its driver: GPU is lost."


def test_gpu_of_another_job_is_not_lost():
    """A batch system forbids the device files of other jobs: NVML then leaves their GPUs out."""
    second = {"address": "0000:00:07.0", "vendor_id": "0x10de", "device_id": "0x2335", "kernel_driver": "nvidia"}
    plain = machine("h200")
    node = {"path": "/dev/nvidia1", "present": True, "openable": False, "error": "EPERM"}
    both = {"pci.gpus": [*plain["pci"]["gpus"], second], "device_nodes.gpus": [*plain["device_nodes"]["gpus"], node]}
    assert codes(HOST, both) == []
    both["device_nodes.gpus"] = [*plain["device_nodes"]["gpus"], {**node, "openable": True, "error": None}]
    assert codes(HOST, both) == ["gpu-lost"]


def test_reset_is_offered_where_nvml_asks_for_one():
    gpu = {"index": 3, "problem": "GPU requires reset", "result": 16}
    (finding,) = roots(HOST, BLIND, {"gpus.gpus": [gpu]}, cuda(999))
    assert finding.fix[0].command == "sudo nvidia-smi --gpu-reset -i 3"


def test_query_not_supported_is_no_loss():
    assert codes(HOST, {"gpus.gpus[0].result": 3, "gpus.gpus[0].problem": "Not Supported"}) == []


def test_xid_in_a_log():
    event = {"kind": "xid", "line": 1, "text": "NVRM: Xid (PCI:0000:3b:00): 79", "fields": {"code": "79", "device": "0000:3b:00"}}
    (finding,) = roots(HOST, {"log.events": [event]})
    assert finding.summary == ("The GPU at 0000:3b:00 no longer answers its driver: the GPU has fallen off the bus (Xid 79).")
    event["fields"]["code"] = "31"  # a program's own fault
    assert outcome("gpu-lost", HOST, {"log.events": [event]}).status is Status.CLEAR


def test_training_that_passed_outweighs_a_silent_witness():
    assert codes(HOST, {"driver.status": "hung"}) == []
    assert codes(HOST, {"driver.status": "hung"}, quick=True) == ["driver-unresponsive"]


def test_forward_compatibility_library_counts_for_the_version():
    assert codes(HOST, {"driver.version": "470.256.02", "cuda.driver_version": "12.4", "driver.cuda_version": "11.4"}) == []


def test_old_driver_is_offered_a_tensorflow_for_it():
    old = {"driver.version": "470.256.02", "cuda.driver_version": "11.4", "interpreter.version": "3.11.9"}
    (finding,) = roots(HOST, BLIND, old)
    assert finding.fix[1].command.endswith('-m pip install "tensorflow[and-cuda]==2.14.1"')
    (finding,) = roots(HOST, BLIND, {**old, "interpreter.version": "3.12.3"})  # 2.14 has no wheel for 3.12
    assert len(finding.fix) == 1


def test_refused_ptx_blames_the_driver_only_if_it_is_the_older():
    event = {"kind": "ptx-unsupported", "line": 9, "text": "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "fields": {"name": "x"}}
    old = {"cuda.driver_version": "12.2", "driver.version": "535.183.01", "log.events": [event], **BLIND}
    assert "driver-too-old" in codes(HOST, old)
    assert outcome("driver-too-old", HOST, {**old, "cuda.driver_version": "12.8"}).status is Status.CLEAR
    assert outcome("driver-too-old", HOST, {**old, "log.events": []}).status is Status.CLEAR


def test_unknown_tensorflow_leaves_the_driver_unjudged():
    nightly = {"packages.tensorflow.version": "2.99.0"}
    assert outcome("driver-too-old", HOST, nightly, BLIND).status is Status.SKIPPED


def test_mismatch_names_both_versions_only_if_they_differ():
    same = {**nvml(18, "x", library="/usr/lib/libnvidia-ml.so.580.159.04"), **cuda(803)}
    (finding,) = roots(HOST, BLIND, same)
    assert finding.summary == "The NVIDIA kernel module and the driver's libraries are of different versions."


def test_compat_folder_is_taken_out_of_the_path():
    path = {"environment.variables": {"LD_LIBRARY_PATH": "/usr/local/cuda/compat:/opt/lib"}}
    refused = cuda(804, library="/usr/local/cuda/compat/libcuda.so.575.57.08")
    (finding,) = roots(HOST, BLIND, path, refused)
    assert finding.fix[0].command == 'export LD_LIBRARY_PATH="/opt/lib"'


def test_capabilities_of_the_container_are_blamed_only_if_they_leave_cuda_out():
    missing = {"cuda": {"status": "library-not-found"}}
    (finding,) = roots(BLIND, missing, {"container.driver_capabilities": "utility"})
    assert "NVIDIA_DRIVER_CAPABILITIES=utility leaves it out" in finding.summary
    (finding,) = roots(BLIND, missing, {"container.driver_capabilities": "all"})
    assert "NVIDIA_DRIVER_CAPABILITIES" not in finding.summary


def test_commands_fit_the_distribution():
    (finding,) = roots(HOST, BLIND, NOTHING_INSTALLED, {"system.os_id": "debian"})
    assert finding.fix[0].command == "sudo apt-get install -y linux-headers-amd64 nvidia-driver"
    (finding,) = roots(HOST, BLIND, NOTHING_INSTALLED, {"system.os_id": "slackware"})
    assert finding.fix[0].command is None
