"""What a text states in words names the cause where it is alone, as a warning; a program's own message goes before it."""

import pytest
from one_rule import assert_named, told_by

from gpucheck.model import Severity

STATED = [
    ("driver-missing", "Ursache: kein NVIDIA-Treiber auf node17"),
    ("driver-not-loaded", "[WARN] nvidia kernel module not loaded (reboot needed?)"),
    ("driver-too-old", "提示：显卡驱动版本过低，请先升级"),
    ("driver-library-mismatch", "CUDA error 803 in every job since the update"),
    ("cuda-stub-loaded", "the CUDA stub is found first, and wins"),
    ("fabric-manager-down", "HGX 机器上 CUDA 错误码 802"),
    ("container-without-gpu", "| no GPU in the job | NVIDIA Container Toolkit is not installed |"),
    ("devices-hidden", "CUDA_VISIBLE_DEVICES is empty inside the job"),
    ("no-nvidia-gpu", "There is no device supporting CUDA"),
    ("cuda-libraries-missing", "Error: CUDA Toolkit not found."),
    ("cuda-libraries-unreachable", "LD_LIBRARY_PATH is not set for the service"),
    ("cuda-version-mismatch", "### CUDA version mismatch"),
    ("cudnn-missing", "| cuDNN not found | reinstall it |"),
    ("cudnn-version-mismatch", "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED\n原因: cuDNN版本不匹配"),
    ("tensorflow-cpu-build", "False, as you are using a CPU-only build"),
    ("tensorflow-not-installed", "RuntimeError: TensorFlow is not installed in this image."),
    ("python-unsupported", "TensorFlow does not support Python 3.15 yet"),
    ("platform-unsupported", "no TensorFlow wheel for aarch64 yet"),
    ("macos-no-cuda", "error: CUDA is not available on macOS"),
    ("windows-native-unsupported", "TensorFlow dropped GPU support on Windows"),
    ("wsl-misconfigured", "### WSL2 GPU not detected"),
    ("gpu-too-new", "nvcc is too old for this GPU"),
    ("gpu-too-new", "RTX 5070 Ti is not supported by PyTorch 2.4"),
    ("gpu-too-new", "cu121 doesn't support sm_103"),
    ("gpu-too-old", "CUDA 13 no longer supports Pascal"),
    ("gpu-too-old", "the wheel has kernels for sm_80/86/90 only, and the V100 is left out"),
]


@pytest.mark.parametrize(("code", "text"), STATED)
def test_what_is_stated_in_words_is_a_warning(code, text):
    first = next(item for item in told_by(text) if item.explained_by is None)
    assert (first.code, first.severity) == (code, Severity.WARNING)


def test_an_unsupported_gpu_of_amd_is_the_drivers_own_message():
    assert_named("rocm-gpu-unsupported", "amdgpu [0] gfx1035 is not supported")


def test_a_message_of_a_program_goes_before_it():
    text = "Failed to initialize NVML: Driver/library version mismatch\n(it looks as if the NVIDIA driver is not installed)"
    assert [item.code for item in told_by(text) if item.explained_by is None] == ["driver-library-mismatch"]


def test_the_first_cause_that_is_stated_counts():
    text = "The NVIDIA driver is not installed, or\nthere is a CUDA version mismatch"
    assert [item.code for item in told_by(text)] == ["driver-missing"]
