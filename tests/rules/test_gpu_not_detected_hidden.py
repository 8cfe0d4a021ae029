"""A GPU that works, and a setting that keeps it from the program: variables, compute mode, MIG, TensorFlow's own floor."""

import pytest
from broken import BLIND, HOST, NO_DEVICE, NO_NODES, ROWS, RULES, changed, codes, cuda, outcome, roots
from fakes import machine

from gpucheck.engine.pipeline import fold, judge
from gpucheck.model import Severity, Status

UUID = "GPU-00000000-0000-0000-0000-000000000000"


def visible(value):
    return {"environment.variables": {"CUDA_VISIBLE_DEVICES": value}}


def several(count, seen=None):
    """A machine with that many GPUs, of which CUDA lists the first ``seen``."""
    plain = machine("h200")
    (gpu,), (device,), (function,) = plain["gpus"]["gpus"], plain["cuda"]["devices"], plain["pci"]["gpus"]
    numbers = range(count)
    return {
        "driver.gpu_count": count,
        "gpus.gpus": [{**gpu, "index": n, "uuid": f"GPU-{n}", "pci_address": f"0000:0{n}:00.0"} for n in numbers],
        "pci.gpus": [{**function, "address": f"0000:0{n}:00.0"} for n in numbers],
        "cuda.device_count": count if seen is None else seen,
        "cuda.devices": [{**device, "ordinal": n, "pci_address": f"0000:0{n}:00.0"} for n in numbers][:seen],
    }


@pytest.mark.parametrize("quick", [False, True], ids=["default", "quick"])
@pytest.mark.parametrize("value", ["", "-1", "-1,0", "NoDevFiles", "1", "7,0", "GPU-deadbeef", "gpu0", "cuda:0"])
def test_everything_hidden(value, quick):
    (finding,) = roots(BLIND, NO_DEVICE, visible(value), quick=quick)
    assert (finding.code, finding.severity) == ("devices-hidden", Severity.ERROR)


@pytest.mark.parametrize("value", ["0", UUID, "GPU-0000", "0,9"])
def test_a_value_that_names_the_gpu_is_not_why_cuda_counts_none(value):
    assert codes(HOST, BLIND, NO_DEVICE, visible(value)) == ["cuda-init-failed"]


def test_hidden_on_purpose_is_a_warning():
    (finding,) = roots(BLIND, NO_DEVICE, visible("-1"), {"request.allow_cpu": True})
    assert (finding.code, finding.severity) == ("devices-hidden", Severity.WARNING)
    judgements = judge(changed(BLIND, NO_DEVICE, visible("-1"), {"request.allow_cpu": True}), RULES.values())
    assert {diagnosis.severity for diagnosis in fold(judgements, ROWS)} == {Severity.WARNING}  # so the verdict is no failure


@pytest.mark.parametrize("value", ["0,1", "1", "GPU-1,GPU-0"])
def test_a_subset_is_a_choice(value):
    assert codes(visible(value), several(4, seen=len(value.split(","))), quick=True) == []


def test_list_that_stops_early():
    (finding,) = roots(visible("0,5,1"), several(4, seen=1))
    assert (finding.code, finding.severity) == ("devices-hidden", Severity.WARNING)
    assert finding.summary == (
        "CUDA_VISIBLE_DEVICES=0,5,1 names 3 GPUs, and CUDA stops at 5, which is not here: a program gets 1."
    )


def test_hidden_where_only_the_device_files_tell_of_a_gpu():
    without_nvml = {"driver": {"status": "library-not-found"}, "gpus.gpus": []}
    (finding,) = roots(BLIND, NO_DEVICE, visible("-1"), without_nvml)
    assert finding.code == "devices-hidden"
    assert "the device files are there" in finding.summary


def test_missing_file_outweighs_a_value_that_would_do():
    missing = {"device_nodes.gpus[0]": {"path": "/dev/nvidia0", "present": False}}
    assert codes(HOST, BLIND, NO_DEVICE, visible("0"), missing, {"driver.gpu_count": 0, "gpus.gpus": []}) == [
        "device-nodes-missing"
    ]


def test_unloaded_uvm_is_not_blamed_where_the_gpu_is_hidden():
    """nvidia-modprobe makes /dev/nvidia-uvm at the first real use, which a hidden GPU never sees."""
    uvm = {"device_nodes.uvm": {"path": "/dev/nvidia-uvm", "present": False}}
    assert codes(HOST, BLIND, NO_DEVICE, visible("-1"), uvm) == ["devices-hidden"]


def test_runtime_that_leaves_the_gpu_out():
    none = {"container": {"inside": True, "nvidia_visible_devices": "none", "gpu_requested": False}}
    assert codes(none, BLIND, NO_DEVICE, {"device_nodes.gpus": [], "driver.gpu_count": 0, "gpus.gpus": []}) == ["devices-hidden"]


@pytest.mark.parametrize("order", ["FASTEST_FIRST", "PCI_BUS_ID", ""])
def test_known_device_order_is_not_malformed(order):
    refused = cuda(101, "CUDA_ERROR_INVALID_DEVICE")
    assert codes(HOST, BLIND, refused, {"environment.variables": {"CUDA_DEVICE_ORDER": order}}) == ["cuda-init-failed"]


def test_device_order_that_cuda_accepted_is_no_finding():
    assert codes({"environment.variables": {"CUDA_DEVICE_ORDER": "FOO"}}) == []


def test_mig():
    empty = {"gpus.gpus[0].mig_enabled": True, "gpus.gpus[0].mig_devices": 0}
    assert codes(HOST, BLIND, NO_DEVICE, empty, quick=True) == ["mig-misconfigured"]
    assert codes(HOST, empty, {"gpus.gpus[0].mig_devices": 1}) == []
    (finding,) = roots(HOST, empty)  # CUDA still counts another GPU
    assert (finding.code, finding.severity, finding.affects) == ("mig-misconfigured", Severity.WARNING, ("GPU 0",))
    assert codes(empty) == []  # a container is given instances, not GPUs
    unknown = {"gpus.gpus[0].mig_enabled": True, "gpus.gpus[0].mig_devices": None}
    assert outcome("mig-misconfigured", HOST, BLIND, NO_DEVICE, unknown).status is Status.SKIPPED


def test_mig_instance_that_is_gone():
    gone = {"gpus.gpus[0].mig_enabled": True, "gpus.gpus[0].mig_devices": 2}
    assert codes(HOST, BLIND, NO_DEVICE, gone, visible("MIG-1234")) == ["devices-hidden"]
    assert codes(HOST, BLIND, NO_DEVICE, {**gone, "gpus.gpus[0].mig_devices": 0}, visible("MIG-1234")) == ["mig-misconfigured"]
    assert outcome("devices-hidden", HOST, gone, visible("MIG-1234")).status is Status.CLEAR  # CUDA has it


EXCLUSIVE = {"gpus.gpus[0].compute_mode": "exclusive-process"}
HOLDER = {"gpus.gpus[0].processes": [{"pid": 4242, "name": "python3"}]}


def test_exclusive_mode_alone_is_a_sites_choice():
    assert codes(EXCLUSIVE) == []
    assert codes(EXCLUSIVE, quick=True) == []


def test_exclusive_mode_with_somebody_in():
    assert codes(EXCLUSIVE, HOLDER, quick=True) == ["compute-mode-exclusive"]
    assert codes(EXCLUSIVE, HOLDER) == []  # training passed on it: the process was our own, or has left
    server = {"gpus.gpus[0].processes": [{"pid": 1, "name": "nvidia-cuda-mps"}]}
    assert codes(EXCLUSIVE, server, quick=True) == []


def test_device_unavailable_without_a_visible_holder():
    event = {"kind": "cuda-error", "line": 1, "text": "CUDA_ERROR_DEVICE_UNAVAILABLE", "fields": {"code": "46"}}
    (finding,) = roots(EXCLUSIVE, BLIND, {"log.events": [event], "tensorflow.devices": machine("h200")["tensorflow"]["devices"]})
    assert finding.code == "compute-mode-exclusive"
    assert outcome("compute-mode-exclusive", {"log.events": [event]}).status is Status.CLEAR  # the mode is default


def test_prohibited_gpu_counts_unless_it_was_left_out():
    second = several(2)
    second["gpus.gpus"][1]["compute_mode"] = "prohibited"
    (finding,) = roots(HOST, second, quick=True)
    assert (finding.code, finding.affects) == ("compute-mode-exclusive", ("GPU 1",))
    left_out = several(2, seen=1)
    left_out["gpus.gpus"][1]["compute_mode"] = "prohibited"
    assert codes(HOST, left_out, visible("0"), quick=True) == []


def test_display_card_beside_a_large_gpu_is_a_warning():
    both = several(2)
    both["cuda.devices"][1].update(multiprocessors=3, name="NVIDIA GeForce GT 1030")
    listed = {"tensorflow.devices": machine("h200")["tensorflow"]["devices"]}
    event = {"kind": "gpu-ignored", "line": 1, "text": "Ignoring", "fields": {"device": "1", "reason": "multiprocessors"}}
    (finding,) = roots(HOST, both, listed, {"log.events": [event]})
    assert (finding.code, finding.severity, finding.affects) == (
        *("gpu-multiprocessor-count-too-low", Severity.WARNING),
        ("GPU 1",),
    )
    assert finding.summary == (
        "TensorFlow ignores GPU 1 (NVIDIA GeForce GT 1030): it has 3 multiprocessors, and TensorFlow asks for 8."
    )
    assert finding.fix[0].command == "export TF_MIN_GPU_MULTIPROCESSOR_COUNT=3"
    assert codes(HOST, both, quick=True) == ["gpu-multiprocessor-count-too-low"]


def test_small_gpu_alone_is_taken():
    assert codes({"cuda.devices[0].multiprocessors": 3}, quick=True) == []
    assert outcome("gpu-multiprocessor-count-too-low", {"cuda.devices[0].multiprocessors": None}, quick=True).status is (
        Status.SKIPPED
    )


def test_malformed_floor_is_ignored_as_tensorflow_does():
    assert codes({"environment.variables": {"TF_MIN_GPU_MULTIPROCESSOR_COUNT": "many"}}, quick=True) == []


@pytest.mark.parametrize("changes", [visible("GPU-dead,0"), visible("-1,0")], ids=["unknown", "minus one"])
def test_what_cuda_found_all_the_same_is_not_hidden(changes):
    assert codes(changes, quick=True) == []


def test_numbers_that_count_mig_instances_are_skipped():
    mig = {"gpus.gpus[0].mig_enabled": True, "gpus.gpus[0].mig_devices": 2}
    assert outcome("devices-hidden", HOST, BLIND, NO_DEVICE, mig, visible("0")).status is Status.SKIPPED
    assert outcome("devices-hidden", HOST, BLIND, NO_DEVICE, mig, visible("")).status is Status.FOUND


def test_uuid_cannot_be_looked_up_where_nvml_tells_none():
    unknown = {"gpus.gpus[0].uuid": None}
    assert outcome("devices-hidden", HOST, BLIND, NO_DEVICE, unknown, visible("GPU-1")).status is Status.SKIPPED


@pytest.mark.parametrize("path", ["device_nodes.control.openable", "device_nodes.gpus[0].openable"])
def test_without_nvml_and_without_access_nothing_says_that_a_gpu_is_hidden(path):
    blind = {"driver": {"status": "library-not-found"}, "gpus.gpus": [], path: None}
    assert outcome("devices-hidden", HOST, BLIND, NO_DEVICE, visible("-1"), blind).status is Status.CLEAR


def test_cuda_that_starts_and_counts_nothing():
    empty = {"cuda": {"status": "ok", "device_count": 0}}
    assert codes(HOST, BLIND, empty, visible("-1"), quick=True) == ["devices-hidden"]
    (finding,) = roots(HOST, BLIND, empty, quick=True)
    assert (finding.code, finding.summary) == ("cuda-init-failed", "CUDA starts, but counts no GPU.")


@pytest.mark.parametrize("path", ["container.inside", "device_nodes.control.present"])
def test_nvidia_visible_devices_counts_only_where_a_runtime_obeyed_it(path):
    none = {"container": {"inside": True, "nvidia_visible_devices": "none", "gpu_requested": False}}
    assert outcome("devices-hidden", none, BLIND, NO_DEVICE, {"device_nodes.gpus": [], path: False}).status is Status.CLEAR
    assert outcome("devices-hidden", none, BLIND, NO_DEVICE).status is Status.CLEAR  # /dev/nvidia0 is there


def test_refusal_by_cuda_itself_counts_as_a_holder():
    refused = cuda(46, "CUDA_ERROR_DEVICE_UNAVAILABLE")
    assert codes(HOST, BLIND, EXCLUSIVE, refused, quick=True) == ["compute-mode-exclusive"]
    unknown = {"gpus.gpus[0].compute_mode": None}
    assert outcome("compute-mode-exclusive", BLIND, refused, unknown).status is Status.SKIPPED
    other = {"kind": "cuda-error", "line": 1, "text": "CUDA_ERROR_OUT_OF_MEMORY", "fields": {"code": "2"}}
    assert outcome("compute-mode-exclusive", BLIND, EXCLUSIVE, {"log.events": [other]}).status is Status.CLEAR


def test_a_gpu_that_tensorflow_lists_is_not_ignored():
    small = {"cuda.devices[0].multiprocessors": 3, "environment.variables": {"TF_MIN_GPU_MULTIPROCESSOR_COUNT": "8"}}
    assert outcome("gpu-multiprocessor-count-too-low", small).status is Status.CLEAR
    assert outcome("gpu-multiprocessor-count-too-low", small, quick=True).status is Status.FOUND


ALLOW_CPU = {"request.allow_cpu": True}


def severities(*changes):
    judgements = judge(changed(*changes, quick=True), RULES.values())
    return {diagnosis.code: diagnosis.severity for diagnosis in fold(judgements, ROWS)}


def test_a_broken_driver_stays_an_error_where_the_cpu_is_enough():
    assert severities(HOST, ALLOW_CPU, cuda(999)) == {"cuda-init-failed": Severity.ERROR}
    assert severities(HOST, ALLOW_CPU, cuda(999), visible("-1"))["cuda-init-failed"] is Severity.ERROR
    assert severities(HOST, ALLOW_CPU, NO_DEVICE) == {"cuda-init-failed": Severity.ERROR}
    assert severities(HOST, NO_DEVICE, visible("-1"))["cuda-init-failed"] is Severity.ERROR


@pytest.mark.parametrize("failure", [NO_DEVICE, cuda(34, "CUDA_ERROR_STUB_LIBRARY")], ids=["no device", "stub"])
def test_container_meant_for_the_cpu_on_a_machine_with_a_gpu(failure):
    bare = {"container": {"inside": True, "kind": "docker", "gpu_requested": False}}
    no_nvml = {"driver": {"status": "library-not-found"}, "gpus.gpus": []}
    assert severities(bare, NO_NODES, no_nvml, failure, ALLOW_CPU) == {}


def test_prohibited_gpu_that_cuda_leaves_out_by_itself_counts():
    hidden = several(2, seen=1)
    hidden["gpus.gpus"][1]["compute_mode"] = "prohibited"
    assert codes(HOST, hidden, quick=True) == ["compute-mode-exclusive"]


def test_mig_that_works_is_clear_even_where_nvml_cannot_count():
    unknown = {"gpus.gpus[0].mig_enabled": True, "gpus.gpus[0].mig_devices": None}
    assert outcome("mig-misconfigured", HOST, unknown).status is Status.CLEAR
