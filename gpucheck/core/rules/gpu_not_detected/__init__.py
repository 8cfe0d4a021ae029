"""The machine has, or should have, a GPU, but TensorFlow does not list it."""

from gpucheck.core.model.plugin import Row

ROW = Row(
    problem="GPU not detected",
    first_check="nvidia-smi and TensorFlow's device list",
    action="correct the driver or environment",
    position=1,
)

# Findings that follow if CUDA can't be initialized: every cause in a layer below CUDA explains them.
WITHOUT_CUDA = ("cuda-init-failed", "gpus-not-listed", "training-failed", "gpu-count-unexpected", "cpu-fallback")
# Findings that follow if TensorFlow does not find its CUDA libraries.
WITHOUT_LIBRARIES = ("gpus-not-listed", "ptxas-missing", "libdevice-missing", "tensorflow-import-failed", "cpu-fallback")
