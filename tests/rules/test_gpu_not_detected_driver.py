"""The driver's rules one by one: what they name, what they advise, and when they stay quiet."""

import pytest
from broken import (
    BLIND,
    HOST,
    NO_DEVICE,
    NO_MODULE,
    NO_NODES,
    NOTHING_INSTALLED,
    NVML_NOT_LOADED,
    PASCAL,
    changed,
    codes,
    cuda,
    nvml,
    outcome,
    roots,
)
from fakes import machine

from gpucheck.engine.verdict import decide
from gpucheck.model import Request, Severity, Status


def test_nvml_alone_missing_is_a_warning():
    (finding,) = roots(HOST, {"driver": {"status": "library-not-found"}, "gpus.gpus": []})
    assert (finding.code, finding.severity) == ("driver-library-missing", Severity.WARNING)
    assert "libnvidia-ml.so.1" in finding.summary


def test_unknown_state_of_the_module_is_skipped_not_clear():
    assert outcome("driver-missing", HOST, BLIND, NOTHING_INSTALLED, {"kernel_module": {}}).status is Status.SKIPPED
    assert outcome("driver-not-loaded", HOST, BLIND, NOTHING_INSTALLED, {"kernel_module": {}}).status is Status.SKIPPED


def test_legacy_gpu_is_told_which_branch():
    legacy = PASCAL
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
        ([NVML_NOT_LOADED, cuda(999)], "is loaded, but nouveau holds the GPU at 0000:00:06.0."),
        ([NOTHING_INSTALLED, NVML_NOT_LOADED], "not loaded: the nouveau driver holds the GPU"),
    ):
        (finding,) = roots(HOST, BLIND, *changes, held)
        assert words in finding.summary
        assert "blacklist nouveau" in finding.fix[0].command


def test_old_gpu_on_a_driver_that_knows_it_is_not_called_unsupported():
    proprietary = {"kernel_module.open_source": False}
    (finding,) = roots(HOST, BLIND, PASCAL, proprietary)
    assert "did not take the GPU" in finding.summary


def test_turing_that_was_not_taken_is_not_called_legacy():
    (finding,) = roots(HOST, BLIND, PASCAL, {"pci.gpus[0].device_id": "0x1eb8"})
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
    assert finding.fix[0].command == "export LD_LIBRARY_PATH=/opt/lib"


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


OLD = {"driver.version": "470.256.02", "cuda.driver_version": "11.4"}


def test_version_of_the_driver_is_taken_from_whoever_tells_it():
    silent = {"cuda.driver_version": None, "driver.version": "470.256.02"}
    assert codes(HOST, BLIND, silent, {"driver.cuda_version": "11.4"}) == ["driver-too-old"]
    assert codes(HOST, BLIND, silent, {"driver.cuda_version": None}) == ["driver-too-old"]
    silent = {"cuda.driver_version": None, "driver.version": None, "driver.cuda_version": None}
    (finding,) = roots(HOST, BLIND, silent, {"kernel_module.version": "470.256.02"})
    assert finding.summary.startswith("The NVIDIA driver 470.256.02 knows CUDA up to 11.4")


def test_old_driver_is_no_fault_where_nothing_needs_more():
    assert outcome("driver-too-old", HOST, BLIND, OLD, {"packages.tensorflow.name": "tensorflow-cpu"}).status is Status.CLEAR
    assert outcome("driver-too-old", HOST, BLIND, OLD, {"packages.tensorflow.version": "2.14.1"}).status is Status.CLEAR
    assert outcome("driver-too-old", HOST, OLD).status is Status.CLEAR  # it trained
    nobody = {**OLD, "driver.gpu_count": 0, "cuda.device_count": 0}
    assert outcome("driver-too-old", HOST, BLIND, nobody).status is Status.CLEAR


def test_old_driver_under_wsl_is_windows_affair():
    wsl = {"wsl": {"inside": True, "version": 2, "dxg_present": True, "libraries": ["libcuda.so.1"]}}
    (finding,) = roots(HOST, BLIND, OLD, wsl)
    assert "(Windows driver 528.33 or newer)" in finding.summary
    assert "Windows driver" in finding.fix[0].text


def test_mismatch_says_more_than_a_refused_compatibility_library():
    both = {**nvml(18, "x", library="/lib/libnvidia-ml.so.1"), **cuda(804, library="/lib/libcuda.so.575.57.08")}
    (finding,) = roots(HOST, BLIND, both)
    assert finding.summary.startswith("The NVIDIA kernel module is version 580.159.04 and the driver's libraries are 575.57.08")


def test_mismatch_in_a_container_is_first_met_by_restarting_it():
    (finding,) = roots(BLIND, cuda(803, library="/lib/libcuda.so.575.57.08"))
    assert finding.fix[0].text.startswith("Restart this container")


def test_the_gpu_on_which_nvml_hung_is_named():
    hung = {"driver.status": "hung", "gpus.gpus[0]": {"index": 5, "problem": "no answer within 20 s"}, **cuda(999)}
    (finding,) = roots(HOST, BLIND, hung)
    assert (finding.code, finding.affects) == ("driver-unresponsive", ("GPU 5",))


def test_library_that_cannot_be_loaded_says_why():
    (finding,) = roots(HOST, BLIND, {"cuda": {"status": "library-unusable", "problem": "file too short"}})
    assert (
        finding.summary == "The NVIDIA driver is loaded, but libcuda.so.1, which CUDA needs, cannot be loaded (file too short)."
    )


def test_jit_compiler_of_the_driver_that_is_missing():
    event = {"kind": "cuda-error", "line": 1, "text": "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "fields": {"code": "221"}}
    (finding,) = roots(HOST, BLIND, {"log.events": [event], "tensorflow.devices": machine("h200")["tensorflow"]["devices"]})
    assert finding.summary.startswith("The NVIDIA driver is loaded, but libnvidia-ptxjitcompiler.so.1")
    event["fields"]["code"] = "700"
    assert outcome("driver-library-missing", HOST, {"log.events": [event]}).status is Status.CLEAR


def test_driver_libraries_without_a_gpu_have_nothing_to_start_on():
    """A machine image made for GPUs, on an instance without one."""
    image = {"pci.gpus": [], **NO_NODES, "kernel_module": NO_MODULE, **NVML_NOT_LOADED, **NO_DEVICE}
    assert codes(HOST, BLIND, image) == ["no-nvidia-gpu"]
    assert codes(HOST, BLIND, image, {"request.allow_cpu": True}, quick=True) == []
    assert codes(HOST, BLIND, image, cuda(34), {"request.allow_cpu": True}, quick=True) == []


@pytest.mark.parametrize(
    "around", [HOST, {"container": {"inside": True, "kind": "docker"}}, {**HOST, "pci": {"readable": False}}]
)
@pytest.mark.parametrize(("result", "code"), [*((n, "cuda-init-failed") for n in (2, 3, 46, 999)), (35, "driver-too-old")])
def test_driver_that_names_an_error_is_no_word_for_a_machine_without_gpus(around, result, code):
    image = {"pci.gpus": [], **NO_NODES, "kernel_module": NO_MODULE, **NVML_NOT_LOADED, **cuda(result, None)}
    (finding,) = roots(around, image, {"request.allow_cpu": True}, quick=True)
    assert (finding.code, finding.severity) == (code, Severity.ERROR)
    assert f"({result}" in finding.summary


def test_refusal_by_nvml_alone_leaves_it_open_whether_a_gpu_is_here():
    image = {"pci.gpus": [], **NO_NODES, "kernel_module": NO_MODULE, **NO_DEVICE, "gpus.gpus": []}

    def decision(result):
        machine = changed(HOST, image, {"request.allow_cpu": True, "driver": {"status": "failed", "result": result}}, quick=True)
        return decide(machine.get(Request), machine, (), ())

    assert [decision(result).exit_code for result in (9, 28, 4, 999)] == [0, 0, 3, 3]
    assert "(4)" in decision(4).unknown_because[0]


def test_stub_that_no_variable_names_is_looked_for_in_the_loaders_list():
    stub = cuda(34, library="/usr/local/cuda/lib64/stubs/libcuda.so.1")
    (finding,) = roots(HOST, BLIND, stub, {"environment.variables": {"LD_LIBRARY_PATH": "/opt/lib"}})
    assert finding.fix[0].command.startswith("grep -rn stubs /etc/ld.so.conf")
    (finding,) = roots(HOST, BLIND, stub, {"environment.variables": {"LD_LIBRARY_PATH": "/usr/local/cuda/lib64/stubs"}})
    assert finding.fix[0].command == "unset LD_LIBRARY_PATH"


def test_mps_server_that_does_not_answer():
    (finding,) = roots(HOST, BLIND, cuda(805, "CUDA_ERROR_MPS_CONNECTION_FAILED"))
    assert (finding.code, finding.fix[0].command) == ("cuda-init-failed", "echo quit | nvidia-cuda-mps-control")
