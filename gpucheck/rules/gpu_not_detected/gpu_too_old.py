"""A GPU's compute capability is below the lowest that this TensorFlow has kernels for, so TensorFlow ignores it.

Symptom:
    Ignoring visible gpu device (device: 0, name: Tesla M60, compute capability: 5.2). The minimum required Cuda capability is 6.0.
    CUDA_ERROR_NO_BINARY_FOR_GPU, cudaErrorInvalidDeviceFunction
Cause:
    A TensorFlow build carries code for some compute capabilities: native code runs on its own generation, intermediate code (PTX) on
    newer ones only. Nothing runs on an older GPU, and each release drops some.
Fix:
    1. Use the last TensorFlow with code for it: 2.16 for compute capability 5.0 and 5.2, 2.14 for 3.5 and 3.7
       $ python -m pip install "tensorflow[and-cuda]==2.16.*"
    2. Use an older release of another program, which still had code for this GPU
    3. Use a newer GPU, or build the program from source for this one
Verify:
    gpucheck trains on the GPU.
Unless:
    It is a display card beside the GPUs that train: TensorFlow passes over it, and that is well.
Example:
    gpus.gpus[0].name = "Tesla M60"
    gpus.gpus[0].compute_capability = [5, 2]
    cuda.devices[0].name = "Tesla M60"
    cuda.devices[0].compute_capability = [5, 2]
    libraries.ptxas = {"path": "/home/user/.venv/lib/python3.12/site-packages/nvidia/cuda_nvcc/bin/ptxas", "version": "12.5.82"}
    log.events = [{"kind": "gpu-ignored", "line": 7, "text": "Ignoring visible gpu device (device: 0, name: Tesla M60, compute capability: 5.2). The minimum required Cuda capability is 6.0.", "fields": {"device": "0", "reason": "capability", "capability": "5.2", "minimum": "6.0"}}]
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    tensorflow.memory_growth = {}
    tensorflow.mapped_libraries = {}
    training.runs = []
    -> TensorFlow 2.21.0 ignores Tesla M60: its compute capability is 5.2, and the lowest that this build has code for is 6.0.
References:
    https://developer.nvidia.com/cuda-gpus
    https://www.tensorflow.org/install/source#gpu
"""

from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.engine.plugin import rule
from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.gpus import Gpus
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.log import Log
from gpucheck.probes.packages import Packages
from gpucheck.probes.tensorflow import TensorFlow
from gpucheck.rules._commands import pip
from gpucheck.rules._gpus import visible_gpus
from gpucheck.rules._log import events
from gpucheck.rules._tensorflow import kernels
from gpucheck.rules._words import listing


@rule(
    severity=Severity.ERROR,
    scope=Scope.ENVIRONMENT,
    explains=("gpus-not-listed", "cudnn-version-mismatch"),
    tensorflow=True,
)
def check(
    request: Request,
    gpus: Gpus,
    cuda: Cuda,
    interpreter: Interpreter,
    packages: Packages,
    tensorflow: TensorFlow | None,
    log: Log | None,
) -> Finding | Skip | None:
    """Below everything that the build carries; a warning where another GPU, or by request the CPU, is left to train on."""
    visible = visible_gpus(gpus, cuda)
    if not visible:
        return None
    build = kernels(packages, tensorflow)
    if build is None:
        return Skip("which compute capabilities this TensorFlow has code for is not known")
    old = [gpu for gpu in visible if gpu.capability < build.lowest]
    if not old:
        return None
    names = listing(sorted({gpu.name for gpu in old}))
    lowest = f"{build.lowest[0]}.{build.lowest[1]}"
    return Finding(
        summary=f"TensorFlow {build.version} ignores {names}: its compute capability is {_text(old[0].capability)}, and the lowest"
        f" that this build has code for is {lowest}.",
        evidence=(
            *(item for gpu in old for item in gpu.evidence),
            *build.evidence,
            *events(log, "gpu-ignored"),
        ),
        fix=_fixes(interpreter, old[0].capability),
        affects=tuple(gpu.label for gpu in old),
        severity=Severity.WARNING if len(old) < len(visible) or not request.needs_gpu else None,
    )


def _fixes(interpreter: Interpreter, capability: tuple[int, int]) -> tuple[Fix, ...]:
    newer = Fix(text="Use a newer GPU, or build TensorFlow from source for this one")
    able = [known for known in releases.RELEASES.values() if known.and_cuda and capability >= releases.lowest_capability(known)]
    if not able:
        return (newer,)
    last = able[-1]
    ours = versions.parse(last.python_min) <= versions.parse(interpreter.version)[:2] <= versions.parse(last.python_max)
    return (
        Fix(
            text=f"TensorFlow {last.minor} is the last with code for it"
            + ("" if ours else f"; it needs Python {last.python_min} to {last.python_max}"),
            command=pip(interpreter, f"tensorflow[and-cuda]=={last.latest_patch}") if ours else None,
        ),
        newer,
    )


def _text(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"
