"""TensorFlow has no GPU support on native Windows since release 2.11.

Symptom:
    TensorFlow GPU support is not available on native Windows for TensorFlow >= 2.11.
    - tf.test.is_built_with_cuda() returns False
    - ERROR: Could not find a version that satisfies the requirement nvidia-nccl-cu12
Cause:
    TensorFlow 2.10 was the last release whose Windows package was built with CUDA. Later ones train on the CPU there, regardless
    of driver, CUDA and cuDNN. In WSL2, on the same PC, the Linux package can use the GPU.
Verify:
    gpucheck, inside WSL, trains on GPU:0.
Unless:
    Training on the CPU is enough:
    $ gpucheck --allow-cpu
Example:
    machine: laptop-cpu
    request.allow_cpu = false
    system = {"platform": "win32", "os_name": "Windows 11"}
    pci.readable = false
    kernel_module = {}
    libraries = {}
    -> TensorFlow 2.21.0 cannot use a GPU on native Windows: GPU support ended there with 2.10; use WSL2 instead.
References:
    https://www.tensorflow.org/install/pip#windows-native
    https://learn.microsoft.com/windows/wsl/install
"""

from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat import versions
from gpucheck.core.model import Finding, Fix, Fixes, Request, Scope, rule, saw
from gpucheck.core.probes.system import System
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import ALLOW_CPU
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA
from gpucheck.core.rules.gpu_not_detected._cuda_builds import INSTALL_LAST_ON_WINDOWS


@rule(
    scope=Scope.HOST,
    explains=(
        *WITHOUT_CUDA,
        "tensorflow-cpu-build",
        "platform-unsupported",
        "cpu-fallback",
    ),
    tensorflow=True,
)
def check(request: Request, system: System, build: TensorFlowBuild | None, context: Context) -> Finding | None:
    """Report native Windows with a TensorFlow newer than 2.10, or without one."""
    if system.platform != "win32" or not request.needs_gpu or (build is not None and build.lists_gpu):
        return None
    installed = build.packages.tensorflow if build is not None else None
    if installed is not None and versions.parse(installed.version)[:2] <= versions.parse(releases.LAST_ON_WINDOWS):
        return None
    name = f"TensorFlow {installed.version}" if installed is not None else "TensorFlow"
    return Finding(
        summary=f"{name} cannot use a GPU on native Windows: GPU support ended there with {releases.LAST_ON_WINDOWS};"
        " use WSL2 instead.",
        evidence=(
            *saw(system, "platform"),
            *(saw(build.packages, "tensorflow.version") if build is not None and installed is not None else ()),
        ),
        fix=repairs(context),
    )


def repairs(context: Context, *, package: str = "") -> Fixes:
    """Use the GPU in WSL2, or train on the CPU.

    Args:
        context: what is known about the machine.
        package: a package without a wheel for Windows: "nvidia-nccl-cu12"; empty if unknown.
    """
    yield Fix(
        text="Install WSL2 from an administrator's prompt, restart, and run gpucheck setup in it",
        command="wsl --install",
        needs=("reboot",),
    )
    if package.lower().startswith("nvidia-") and context.framework in (None, "tensorflow"):
        yield Fix(text="To train on the CPU, install TensorFlow without NVIDIA's libraries", command=context.pip("tensorflow"))
    elif context.framework in (None, "tensorflow"):
        yield Fix(
            text=f"Or stay on TensorFlow {releases.LAST_ON_WINDOWS} with Python 3.10, CUDA 11.2 and cuDNN 8.1;"
            " it no longer gets fixes",
            command=INSTALL_LAST_ON_WINDOWS if context.manager == "conda" else None,
        )
    yield ALLOW_CPU
