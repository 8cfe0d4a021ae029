"""Causes that a text states in words: "the driver is not installed". A program's own message, where one is left, goes before it."""

from gpucheck.logs.causes.cause import Cause, sentence
from gpucheck.logs.causes.events import Events

SENTENCES = {
    "container-without-gpu": "The container was given no GPU.",
    "cuda-libraries-missing": "CUDA libraries that this program opens are not found.",
    "cuda-libraries-unreachable": "CUDA's libraries are installed, but not found where TensorFlow looks.",
    "cuda-stub-loaded": "A stub for linking was loaded instead of the driver's libcuda.so.1.",
    "cuda-version-mismatch": "The CUDA libraries that are here are of another version than the program was built for.",
    "cudnn-missing": "No cuDNN that could be used was found: none, or one of another version.",
    "cudnn-version-mismatch": "The cuDNN that is installed is of another version than the program was built with.",
    "devices-hidden": "CUDA_VISIBLE_DEVICES hides the GPUs from this process.",
    "driver-library-mismatch": "The NVIDIA kernel module and the driver's libraries are of different versions.",
    "driver-missing": "No NVIDIA driver is installed.",
    "driver-not-loaded": "The NVIDIA driver is installed, but its kernel module is not loaded.",
    "driver-too-old": "The NVIDIA driver is too old for the CUDA of this program.",
    "fabric-manager-down": "The NVSwitch fabric that joins the GPUs is not ready: the fabric manager is not running.",
    "macos-no-cuda": "This is macOS, which has no CUDA, so no NVIDIA GPU can be used on it.",
    "no-nvidia-gpu": "No NVIDIA GPU was found.",
    "peer-access-unavailable": "Training is said to work with NCCL_P2P_DISABLE=1: these GPUs fail to read each other's memory.",
    "platform-unsupported": "There is no package for this platform.",
    "python-unsupported": "This Python is none that the package supports.",
    "tensorflow-cpu-build": "What is installed was built without CUDA, so it can't use an NVIDIA GPU.",
    "tensorflow-not-installed": "TensorFlow is not installed for the Python that ran this.",
    "windows-native-unsupported": "This is native Windows, where TensorFlow can use no GPU since release 2.11.",
    "wsl-misconfigured": "WSL gives no NVIDIA GPU: {text}.",
}


def cause_in_prose(events: Events, code: str) -> Cause | None:
    """That cause, if it is the first one that the text states."""
    stated = events.in_prose(code) if code in SENTENCES else []
    return Cause(sentence(SENTENCES[code], stated), stated) if stated else None
