"""What is wrong with the device files: what is named, what is advised, and when the rules stay quiet."""

import pytest
from broken import BLIND, HOST, NO_DEVICE, codes, cuda, outcome, roots
from fakes import machine

from gpucheck.model import Status

NODE = {"path": "/dev/nvidia0", "present": True, "openable": False}


def test_ordinary_file_instead_of_a_device():
    (finding,) = roots(HOST, BLIND, NO_DEVICE, {"device_nodes.gpus[0]": {**NODE, "openable": None, "regular_file": True}})
    assert finding.summary == "CUDA cannot start because /dev/nvidia0 is an ordinary file instead of a device."


def test_reason_of_a_missing_uvm_is_given_only_if_it_is_known():
    missing = {**cuda(999), "device_nodes.uvm": {"path": "/dev/nvidia-uvm", "present": False}}
    (finding,) = roots(HOST, BLIND, missing, {"kernel_module.uvm_loaded": True})
    assert finding.summary == "CUDA cannot start because /dev/nvidia-uvm is missing."
    assert finding.fix[0].command == "sudo nvidia-modprobe -u -c=0"


@pytest.mark.parametrize(
    ("result", "code"),
    [(34, "cuda-stub-loaded"), (802, "fabric-manager-down"), (803, "driver-library-mismatch")],
)
def test_missing_uvm_does_not_outweigh_what_cuda_names_itself(result, code):
    assert codes(HOST, BLIND, cuda(result), {"device_nodes.uvm": {"path": "/dev/nvidia-uvm", "present": False}}) == [code]


def test_one_good_gpu_of_two_means_that_the_other_file_is_not_the_reason():
    good = machine("h200")["device_nodes"]["gpus"][0]
    absent = {"path": "/dev/nvidia1", "present": False}
    assert codes(HOST, BLIND, NO_DEVICE, {"device_nodes.gpus": [good, absent]}) == ["cuda-init-failed"]
    refused = {**NODE, "path": "/dev/nvidia1", "error": "EPERM"}
    assert codes(HOST, BLIND, NO_DEVICE, {"device_nodes.gpus": [good, refused]}) == ["cuda-init-failed"]


def test_permission_that_could_not_be_tried_is_skipped():
    untried = {"device_nodes.gpus[0]": {**NODE, "openable": None}}
    assert outcome("device-permission-denied", HOST, BLIND, NO_DEVICE, untried).status is Status.SKIPPED
    assert outcome("device-permission-denied", HOST, BLIND, NO_DEVICE).status is Status.CLEAR


def test_refused_file_says_whose_it_is_and_how_to_get_in():
    owned = {"mode": "0660", "owner": "root", "group": "render"}
    (finding,) = roots(HOST, BLIND, NO_DEVICE, {"device_nodes.gpus[0]": {**NODE, "error": "EACCES", **owned}})
    assert finding.summary.endswith("(EACCES): it belongs to root and the group render, mode 0660.")
    assert finding.fix[0].command == "sudo usermod -aG render $USER"
    roots_own = {**NODE, "error": "EACCES", **owned, "group": "root"}  # joining root's group is no advice
    (finding,) = roots(HOST, BLIND, NO_DEVICE, {"device_nodes.gpus[0]": roots_own})
    assert finding.fix[0].command.startswith("sudo chmod 0666 /dev/nvidiactl")
