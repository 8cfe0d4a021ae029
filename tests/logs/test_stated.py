"""Causes that notes, tables and scripts state in words, in several languages; and the sentences close by that state none."""

import pytest
from one_line import assert_meant, assert_not_meant

# cause -> the sentences that state it
STATED = {
    "cuda-stub-loaded": ("the CUDA stub shadows the real libcuda.so.1", "the driver stub got loaded first"),
    "cuda-version-mismatch": ("### CUDA version mismatch", "原因：CUDA版本不匹配", "**CUDA 버전 불일치** 문제"),
    "cuda-libraries-missing": ("Error: CUDA Toolkit not found.", "CUDA runtime library missing", "未找到 CUDA 库"),
    "cuda-libraries-unreachable": ("LD_LIBRARY_PATH is not set in the service", "CUDA libs are not on LD_LIBRARY_PATH"),
    "cudnn-missing": (
        "| cuDNN not found | reinstall |",
        "服务器没有安装cuDNN",
        "cuDNN が見つかりません",
        "cuDNN no está instalado",
    ),
    "cudnn-version-mismatch": ("原因是cudnn版本不匹配", "cuDNN version mismatch on node 3", "cuDNN 버전이 호환되지 않습니다"),
    "container-without-gpu": (
        "NVIDIA Container Toolkit is not installed",
        "missing --gpus all in the unit file",
        "expected when run without --nv",
    ),
    "devices-hidden": ("CUDA_VISIBLE_DEVICES is empty in that shell", "CUDA_VISIBLE_DEVICES 为空"),
    "driver-library-mismatch": ("驱动版本不匹配", "NVIDIA driver mismatch", "CUDA error 804 on every node"),
    "driver-missing": (
        "NVIDIA driver is not installed",
        "尚未安装NVIDIA驱动",
        "NVIDIA 드라이버가 설치되지 않음",
        "kein NVIDIA-Treiber",
    ),
    "driver-not-loaded": ("WARN: nvidia kernel module not loaded", "NVIDIA driver not loaded, skipping"),
    "driver-too-old": (
        "显卡驱动版本过低",
        "The GPU driver is outdated",
        "Your GPU driver is outdated, which can cause this",
        "CUDA error code: 35",
        "драйвер NVIDIA устарел",
    ),
    "fabric-manager-down": ("CUDA 错误码 802",),
    "gpu-too-new": ("this toolkit is too old for your card", "RTX 5070 is not supported by this wheel", "不支持 RTX 50 系列"),
    "gpu-too-old": ("Kepler is no longer supported by CUDA 12", "CUDA 13 dropped Pascal", "your GPU is too old"),
    "gpu-unfit": ("RTX 4060 is not supported", "compute capability 8.9 is unsupported"),
    "no-nvidia-gpu": ("no CUDA device found", "There is no device supporting CUDA", "NVIDIA GPU not detected"),
    "python-unsupported": (
        "TensorFlow does not support Python 3.15",
        "Python 3.14 has no wheels for torch",
        "no TensorFlow wheels for 3.15",
    ),
    "macos-no-cuda": ("CUDA is not available on macOS",),
    "platform-unsupported": ("there is no TensorFlow wheel for aarch64 here",),
    "tensorflow-cpu-build": ("you are using a CPU-only build", "装了 CPU 版 torch", "PyTorch is CPU-only here"),
    "tensorflow-not-installed": ("TensorFlow is not installed in this image", "错误：没有安装 tensorflow"),
    "windows-native-unsupported": ("TensorFlow dropped GPU support on Windows",),
    "wsl-misconfigured": ("### GPU not detected in WSL2", "WSL2 GPU not visible", "a Linux driver inside WSL broke it"),
}

NOT_STATED = (
    "Make sure the NVIDIA driver is not missing",
    "to avoid CUDA version mismatches, create an environment",
    "NVIDIA driver 580.95 installed",
    "No NVIDIA GPU found, running on the CPU",
    "cuDNN version 9.10 loaded",
    "TensorFlow 2.20.0",
    "Loading on the CPU as CUDA is not available on macOS.",
    "RTX 4090 supported since 2.12",
    "RuntimeError: CUDA error at line 802",
    "it was not a CUDA version mismatch",
    "并不是 CUDA 版本不匹配",
    "GPU Drivers: Outdated or improperly configured GPU drivers can cause issues. Install the latest ones.",
    "* NVIDIA driver: outdated or of another release",
    "An outdated NVIDIA driver may cause this error",
    "显卡驱动版本过低可能会导致问题",
)


@pytest.mark.parametrize(("cause", "text"), [(cause, text) for cause, texts in STATED.items() for text in texts])
def test_stated(cause, text):
    assert_meant("stated", text, {"cause": cause})


@pytest.mark.parametrize("text", NOT_STATED)
def test_not_stated(text):
    assert_not_meant("stated", text)


# what programs themselves say, in other words or in another language
SAID = (
    ("driver-absent", "'nvidia-smi' 不是内部或外部命令，也不是可运行的程序", {}),
    ("driver-absent", "zsh: command not found: nvidia-smi", {}),
    ("kernel-module-failed", "Plymouth: Nvidia kernel module missing. Falling back to nouveau", {"reason": "not-built"}),
    ("kernel-module-failed", "NVRM: The NVIDIA probe routine was not called for 2 device(s).", {}),
    ("kernel-module-failed", "modinfo: ERROR: Module nvidia_uvm not found.", {}),
    ("kernel-module-failed", "no package for branch 390; the nouveau driver is in use instead", {"reason": "nouveau"}),
    ("driver-mismatch", "the kernel NVRM says 570.10.01 and NVML's library 575.20", {"kernel": "570.10.01", "library": "575.20"}),
    ("device-node-missing", "error: /dev/nvidiactl not found", {"path": "/dev/nvidiactl"}),
    ("nvml-failed", "NVIDIA-SMI has failed because it can't communicate with the driver", {"code": "9"}),
    ("nvml-failed", "Failed to initialize NVML: GPU access blocked by the OS", {"code": "17"}),
    ("cuinit-failed", "ggml: CUDA driver is a stub library", {"code": "34"}),
    ("cuinit-failed", "cuInit(0)       -> 34 FAIL", {"code": "34"}),
    ("cuda-used-after-fork", "CUDA cannot be re-initialized in a\nforked child process", {}),
    ("gpu-ignored", "warns: PyTorch no longer supports this GPU because it is too old.", {"reason": "capability"}),
    ("kernel-image-missing", "`sm_103 is not compatible`", {"capability": "sm_103"}),
    ("kernel-image-missing", "nvcc fatal : Value 'sm_103' is not defined for option", {"capability": "sm_103", "worded": "yes"}),
    ("kernel-image-missing", "сборка не поддерживает sm_103", {"capability": "sm_103"}),
    ("kernel-image-missing", "a torch without sm_103 kernels", {"capability": "sm_103"}),
    ("kernel-image-missing", "no compatible tinyops extension for compute capability 37.", {"capability": "3.7"}),
    ("kernel-image-missing", "it has kernels for sm_80/90 only", {"supported": "sm_80/90"}),
    ("library-missing", "Library cublasLt64_13.dll is not found or cannot be\nloaded", {"soname": "cublasLt64_13.dll"}),
    ("library-missing", "`libcufft.so.10` cannot be found on this node", {"soname": "libcufft.so.10"}),
    ("library-missing", "the wheel requires libcublas.so.12, but there is 13", {"soname": "libcublas.so.12"}),
    (
        "pip-python-mismatch",
        "The current project's Python requirement (>=3.11) is not compatible with some of the required packages:\n"
        "    - tensorflow-text requires Python >=3.8, <3.12, so it will not be satisfied",
        {"package": "tensorflow-text", "needed": ">=3.8, <3.12"},
    ),
    (
        "pip-no-matching-distribution",
        "but we only found wheels for `tensorflow` (v2.17.0)\nwith the following Python ABI tags: `cp39`, `cp310`",
        {"package": "tensorflow", "tag": "Python"},
    ),
    ("library-missing", "engine: Could not load `libcublas.so.12`, giving up", {"soname": "libcublas.so.12"}),
    ("rocm", "amdgpu [0] gfx1035 is not supported", {"unsupported": "gfx1035"}),
    ("cpu-build", "warning: the program was compiled without GPU support", {}),
    ("tensorflow-gpu-package", "tensorflow-gpu has been replaced by tensorflow", {}),
    ("gpus-listed", "`torch.cuda.is_available()` 返回 False", {"count": "0"}),
    ("libdevice-missing", "can not find libdevice.10.bc", {}),
)
NOT_SAID = (
    ("kernel-image-missing", "sm_100 and sm_103 are supported"),
    ("kernel-image-missing", "sm_120 is not compatible with sm_100 code"),
    ("driver-mismatch", "kernel module 570.10.01, library 570.10"),
    ("rocm", "rocminfo lists gfx1100"),
    ("device-node-missing", "/dev/nvidia0 found"),
)


@pytest.mark.parametrize(("kind", "text", "fields"), SAID)
def test_said(kind, text, fields):
    assert_meant(kind, text, fields)


@pytest.mark.parametrize(("kind", "text"), NOT_SAID)
def test_not_said(kind, text):
    assert_not_meant(kind, text)
