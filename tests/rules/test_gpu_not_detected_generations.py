"""GPUs that are older or newer than TensorFlow's kernels, and GPUs that it does not list."""

import pytest
from fakes import machine
from installed import LISTS_NONE, PYTHON
from one_rule import QUICK, changed, found, status

from gpucheck.model import Severity, Status


def two_gpus(capability):
    plain = machine("h200")
    gpu, device = plain["gpus"]["gpus"][0], plain["cuda"]["devices"][0]
    more = {"index": 1, "pci_address": "0000:00:07.0", "name": "NVIDIA GeForce GT 710", "minor": 1}
    second = {"ordinal": 1, "pci_address": "0000:00:07.0", "name": "NVIDIA GeForce GT 710"}
    return {
        "gpus.gpus": [gpu, {**gpu, **more, "compute_capability": capability}],
        "cuda.device_count": 2,
        "cuda.devices": [device, {**device, **second, "compute_capability": capability}],
        "driver.gpu_count": 2,
    }


IGNORED = {
    "kind": "gpu-ignored",
    "line": 7,
    "text": "Ignoring visible gpu device (device: 1, ...)",
    "fields": {"device": "1", "reason": "capability", "capability": "3.5", "minimum": "6.0"},
}


def test_display_card_beside_the_gpu_that_trains_is_a_warning_only():
    plain = changed({**two_gpus([3, 5]), "log.events": [IGNORED]})
    finding = found("gpu-too-old", plain)
    assert (finding.severity, finding.affects) == (Severity.WARNING, ("GPU 1",))
    assert status("gpus-not-listed", plain) is Status.CLEAR


@pytest.mark.parametrize(
    ("capability", "changes", "expected"),
    [
        ([6, 1], {}, Status.CLEAR),
        ([5, 2], {}, Status.FOUND),
        ([5, 2], {"tensorflow.compute_capabilities": ["sm_50", "sm_60", "compute_90"]}, Status.CLEAR),
        ([5, 2], {"packages.tensorflow.version": "2.16.2", **QUICK}, Status.CLEAR),
        ([5, 2], QUICK, Status.FOUND),
        ([5, 2], {"packages.tensorflow.name": "tf-nightly", **QUICK}, Status.SKIPPED),
        ([5, 2], {"cuda": {"status": "failed", "result": 100}}, Status.CLEAR),
    ],
    ids=["pascal", "maxwell", "own-build", "older-release", "quick", "nightly", "hidden"],
)
def test_lowest_capability(capability, changes, expected):
    plain = changed({"cuda.devices[0].compute_capability": capability, **changes})
    assert status("gpu-too-old", plain) is expected


def test_old_gpu_where_the_cpu_is_enough_is_a_warning():
    plain = changed({"cuda.devices[0].compute_capability": [5, 2], "request.allow_cpu": True})
    assert found("gpu-too-old", plain).severity is Severity.WARNING


BLACKWELL = {"cuda.devices[0].compute_capability": [12, 0], "training.runs": []}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (BLACKWELL, Status.FOUND),
        ({**BLACKWELL, **QUICK}, Status.FOUND),
        ({"cuda.devices[0].compute_capability": [12, 0], "training.runs[0].xla_verified": True}, Status.CLEAR),
        ({**BLACKWELL, "tensorflow.compute_capabilities": ["sm_80", "sm_120", "compute_120"]}, Status.CLEAR),
        ({**BLACKWELL, "tensorflow.version": "2.23.0"}, Status.SKIPPED),
        ({"packages.tensorflow.version": "2.15.1", **QUICK}, Status.CLEAR),  # Hopper from PTX: slow at first, and well
    ],
    ids=["default", "quick", "trained", "native", "unknown-release", "hopper-from-ptx"],
)
def test_newer_than_the_kernels(changes, expected):
    assert status("gpu-too-new", changed(changes)) is expected


def test_older_release_is_told_to_upgrade():
    changes = {**BLACKWELL, "packages.tensorflow.version": "2.19.1", "tensorflow.version": "2.19.1"}
    finding = found("gpu-too-new", changed(changes))
    assert "CUDA_ERROR_INVALID_PTX" in finding.summary
    assert finding.fix[1].command == f'{PYTHON} -m pip install "tensorflow[and-cuda]==2.21.*"'


@pytest.mark.parametrize(("listed", "expected"), [(1, Status.FOUND), (2, Status.CLEAR)])
def test_fewer_gpus_than_cuda_counts(listed, expected):
    devices = [{"name": f"GPU:{place}", "kind": "GPU"} for place in range(listed)]
    plain = changed({**two_gpus([9, 0]), "tensorflow.devices": devices})
    assert status("gpus-not-listed", plain) is expected


def test_listing_that_was_not_reached_is_no_answer():
    assert status("gpus-not-listed", changed({"tensorflow.devices": None})) is Status.SKIPPED


@pytest.mark.parametrize(
    ("capability", "python", "text", "command"),
    [
        ([5, 2], "3.12.3", "TensorFlow 2.16 is the last", f'{PYTHON} -m pip install "tensorflow[and-cuda]==2.16.2"'),
        ([5, 2], "3.13.0", "it needs Python 3.9 to 3.12", None),
        ([3, 5], "3.12.3", "TensorFlow 2.14 is the last with code for it; it needs Python 3.9 to 3.11", None),
        ([3, 0], "3.12.3", "Use a newer GPU", None),
    ],
)
def test_old_gpu_is_offered_the_last_release_for_it(capability, python, text, command):
    changes = {"cuda.devices[0].compute_capability": capability, "interpreter.version": python}
    first = found("gpu-too-old", changed(changes)).fix[0]
    assert text in first.text
    assert first.command == command


def test_new_gpu_outside_a_container_and_a_build_without_ptx():
    inside = found("gpu-too-new", changed(BLACKWELL))
    assert inside.fix[0].command is None
    outside = found("gpu-too-new", changed({**BLACKWELL, "container": {"inside": False}}))
    assert outside.fix[0].command.startswith("docker run --gpus all")
    without = {"cuda.devices[0].compute_capability": [9, 0], "training.runs": []}
    bare = changed({**without, "tensorflow.compute_capabilities": ["sm_80", "sm_86"]})
    assert "neither native code nor PTX" in found("gpu-too-new", bare).summary
    ada = {**without, "cuda.devices[0].compute_capability": [8, 9], "tensorflow.compute_capabilities": ["sm_80"]}
    assert status("gpu-too-new", changed(ada)) is Status.CLEAR


def test_driver_that_counts_no_gpu_is_another_diagnosis():
    plain = changed({"cuda.device_count": 0, **LISTS_NONE})
    assert status("gpus-not-listed", plain) is Status.CLEAR
    plain = changed({"cuda": {"status": "hung"}, **LISTS_NONE})
    assert status("gpus-not-listed", plain) is Status.SKIPPED
