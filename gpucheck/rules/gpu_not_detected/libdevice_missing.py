"""libdevice.10.bc, CUDA's library of mathematical functions for compilers, is not where XLA looks.

Symptom:
    Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice
    libdevice not found at ./libdevice.10.bc
    INTERNAL: libdevice not found at ./libdevice.10.bc [Op:__inference_one_step_on_data]
Cause:
    XLA links libdevice into the kernels that it generates. It looks into --xla_gpu_cuda_data_dir, /usr/local/cuda and pip's
    nvidia/cuda_nvcc, and at last into the working directory. Keras 3 compiles models with XLA by default (jit_compile="auto").
Fix:
    1. python -m pip install "nvidia-cuda-nvcc-cu12>=12.5,<13.0"
    2. Or name an installed toolkit: export XLA_FLAGS="--xla_gpu_cuda_data_dir=/usr/local/cuda-12.5"
    3. Or do without XLA: model.compile(..., jit_compile=False)
Verify:
    gpucheck trains one XLA-compiled step on the GPU.
Unless:
    You compile every model with jit_compile=False and use XLA nowhere else.
Example:
    packages.and_cuda[2].installed = null
    packages.and_cuda[2].satisfied = null
    libraries.ptxas.elsewhere = []
    libraries.libdevice = {}
    training.runs = []
    log.events = [{"kind": "libdevice-missing", "line": 9, "text": "libdevice not found at ./libdevice.10.bc", "fields": {"path": "./libdevice.10.bc"}}]
    -> libdevice.10.bc is not installed, and XLA, with which Keras 3 compiles models by default, links it into every GPU kernel.
References:
    https://openxla.org/xla/flags_guidance
    https://www.tensorflow.org/install/pip
"""

from gpucheck.compat import tensorflow as releases
from gpucheck.compat import versions
from gpucheck.model import Finding, Fix, Request, Scope, Severity, Skip, saw
from gpucheck.plugin import rule
from gpucheck.probes.container import Container
from gpucheck.probes.cuda import Cuda
from gpucheck.probes.driver import Driver
from gpucheck.probes.interpreter import Interpreter
from gpucheck.probes.libraries import Libraries
from gpucheck.probes.log import Log
from gpucheck.probes.packages import Packages
from gpucheck.probes.pci import Pci
from gpucheck.probes.training import Training
from gpucheck.rules import _common as common
from gpucheck.rules._log import cite, told


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT, explains=("training-failed", "training-crashed"))
def check(
    request: Request,
    container: Container,
    pci: Pci,
    driver: Driver,
    cuda: Cuda,
    interpreter: Interpreter,
    packages: Packages,
    libraries: Libraries,
    training: Training | None,
    log: Log | None,
) -> Finding | Skip | None:
    """Not where XLA looks, and no compiled step on a GPU that went well without it."""
    here = common.gpu_here(request, container, pci, driver, cuda)
    if not here:
        return common.absent(here)
    if libraries.tensorflow is None:
        return common.NO_TENSORFLOW_LIBRARIES
    if libraries.libdevice.path or common.trained_on_gpu(training, compiled=True):
        return None
    known = releases.release(libraries.tensorflow)
    copies = libraries.libdevice.elsewhere
    where = f" (a copy lies at {copies[0]}, where it does not look)" if copies else ""
    return Finding(
        summary=f"libdevice.10.bc is {'not found' if copies else 'not installed'}{where}, and XLA, with which Keras 3 compiles models by default, links it into every GPU kernel.",
        evidence=(*saw(libraries, "libdevice.path", "libdevice.elsewhere"), *common.events(log, "libdevice-missing")),
        fix=(
            *_fixes(interpreter, packages, libraries),
            Fix(text="Or do without XLA, in your code: model.compile(..., jit_compile=False)"),
        ),
        # Keras 2 compiles with XLA only where it is told to.
        severity=None if known is None or versions.at_least(known.minor, "2.16") else Severity.WARNING,
    )


def _fixes(interpreter: Interpreter, packages: Packages, libraries: Libraries) -> list[Fix]:
    tools = common.xla_tools(interpreter, packages, libraries.tensorflow or "")
    copies = libraries.libdevice.elsewhere
    if not copies:
        return [tools]
    return [
        Fix(
            text="Let it be found, in the shell that starts Python",
            command=f'export XLA_FLAGS="--xla_gpu_cuda_data_dir={copies[0].partition("/nvvm/")[0]}${{XLA_FLAGS:+ $XLA_FLAGS}}"',
        ),
        tools,
    ]


def in_log(log: Log) -> Finding | None:
    """XLA's word for it; its first one is only a warning, after which much still works."""
    missed = told(log, "libdevice-missing")
    if not missed:
        return None
    fatal = any(event.fields.get("fatal") == "yes" for event in missed)
    return Finding(
        summary="libdevice.10.bc, which XLA links into the kernels it compiles for the GPU, is not found.",
        evidence=cite(*missed),
        fix=(
            Fix(text="Install NVIDIA's compiler tools", command='python -m pip install "nvidia-cuda-nvcc-cu12>=12.5,<13.0"'),
            Fix(
                text="Or name an installed toolkit",
                command='export XLA_FLAGS="--xla_gpu_cuda_data_dir=/usr/local/cuda${XLA_FLAGS:+ $XLA_FLAGS}"',
            ),
            Fix(text="Or do without XLA, in your code: model.compile(..., jit_compile=False)"),
        ),
        severity=None if fatal else Severity.WARNING,
    )
