"""What of a log is gpu-too-new."""

from gpucheck.model import Finding, Fix, Severity
from gpucheck.probes.log import Log
from gpucheck.rules._kernels import unfit
from gpucheck.rules._log import cite, fitting
from gpucheck.rules.gpu_not_detected.gpu_too_new import _NVIDIA_IMAGE


def in_log(log: Log) -> Finding | None:
    """A missing kernel or rejected PTX on a GPU that is newer than the program; where training went on, nothing."""
    found = unfit(log)
    if found is None or found.old:
        return None
    name = found.name or "This GPU"
    has = f" (compute capability {found.capability[0]}.{found.capability[1]})" if found.capability else ""
    return Finding(
        summary=f"{name}{has} is too new for this program: it has no code for it, and what is compiled in its place is rejected.",
        evidence=cite(*found.events),
        fix=fitting(
            log,
            Fix(
                text=f"TensorFlow: start from NVIDIA's own build, the image {_NVIDIA_IMAGE}, which has code for this GPU",
                command=f"docker run --gpus all -it {_NVIDIA_IMAGE}",
            ),
            Fix(
                text="PyTorch: install a build for the newest CUDA",
                command="python -m pip install --upgrade torch --index-url https://download.pytorch.org/whl/cu128",
            ),
            Fix(text="Keras: train without XLA, in your code: model.compile(..., jit_compile=False)"),
        ),
        severity=None if found.failed else Severity.WARNING,
    )
