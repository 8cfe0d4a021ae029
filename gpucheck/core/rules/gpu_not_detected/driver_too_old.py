"""The NVIDIA driver is too old for the CUDA version that the installed TensorFlow was built with.

Symptom:
    CUDA driver version is insufficient for CUDA runtime version
    cudaGetDeviceCount() returned 35
    the provided PTX was compiled with an unsupported toolchain.
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION
    - Driver version is lower than what is required to execute PTX
Cause:
    A driver runs programs built for its own CUDA major version or an older one, never for a newer one. TensorFlow 2.15 and later
    were built with CUDA 12, which needs driver 525.60.13 (528.33 on Windows, for WSL2); 2.10 to 2.14 need 450.80.02.
Verify:
    nvidia-smi prints a CUDA version at least as new as TensorFlow's major: 12.0 for TensorFlow 2.21.
Unless:
    The forward-compatibility package (cuda-compat) is in use on a data-center GPU: CUDA then reports the newer version, and
    this is not reported.
Example:
    kernel_module.version = "470.256.02"
    driver.version = "470.256.02"
    driver.cuda_version = "11.4"
    cuda.driver_version = "11.4"
    tensorflow.devices = [{"name": "CPU:0", "kind": "CPU"}]
    training.runs = []
    -> The NVIDIA driver 470.256.02 supports CUDA up to 11.4, but TensorFlow 2.21.0 needs 12.0 (driver 525.60.13 or newer).
References:
    https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/
    https://docs.nvidia.com/deploy/cuda-compatibility/
    https://www.tensorflow.org/install/pip
"""

import re

from msgspec.structs import replace

from gpucheck.core.combiners.cuda_stack import CudaStack
from gpucheck.core.combiners.training_outcomes import TrainingOutcomes
from gpucheck.core.compat import results, versions
from gpucheck.core.compat import tensorflow as releases
from gpucheck.core.compat.cuda import LOWEST_DRIVER, branch_of_cuda, cuda_of_driver, results_of
from gpucheck.core.model import Evidence, Finding, Fix, Fixes, Scope, Skip, rule, saw
from gpucheck.core.probes.driver import Driver
from gpucheck.core.probes.kernel_module import KernelModule
from gpucheck.core.probes.packages import Packages
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import for_another_machine, jax_for_cuda_12
from gpucheck.core.repairs.machine import install_driver
from gpucheck.core.rules.gpu_not_detected import WITHOUT_CUDA


@rule(scope=Scope.HOST, explains=(*WITHOUT_CUDA, "container-without-gpu", "cudnn-init-failed"), tensorflow=True)
def check(
    stack: CudaStack, kernel_module: KernelModule | None, packages: Packages, outcomes: TrainingOutcomes, context: Context
) -> Finding | Skip | None:
    """Compare the newest CUDA that the driver supports with the major version that TensorFlow's release was built with."""
    installed, cuda = packages.tensorflow, stack.cuda
    if installed is None or "cpu" in installed.name or outcomes.trained_on_gpu():
        return None
    if cuda.status == "failed" and cuda.result in results_of("driver-too-old"):
        return _refused(stack, context)
    if not (stack.driver.gpu_count or stack.counts_gpus):
        return None  # an old driver lists its GPUs; if it lists none, there is another cause
    newest, evidence = _newest_cuda(stack, kernel_module)
    if newest is None:
        return None  # no driver responds: other rules report why
    release = releases.release(installed.version)
    if release is None:
        return Skip(f"the CUDA version that TensorFlow {installed.version} needs is unknown")
    needed = f"{release.cuda_major}.0"
    windows = "Windows " if stack.wsl.inside else ""
    floor = f" ({windows}driver {LOWEST_DRIVER[release.cuda_major][stack.wsl.inside]} or newer)"
    refused = outcomes.saw_events("ptx-unsupported", "driver-too-old")
    if versions.at_least(newest, needed):
        if not refused or versions.at_least(newest, release.cuda):
            return None
        # The driver must compile its kernels, which requires the full version.
        needed, floor = release.cuda, " to compile its kernels"
    version = stack.driver.version or (kernel_module.version if kernel_module is not None else None)
    name = f"driver {version}" if version else "driver"
    return Finding(
        summary=f"The NVIDIA {name} supports CUDA up to {newest}, but TensorFlow {installed.version} needs {needed}{floor}.",
        evidence=(
            *evidence,
            *saw(stack.driver, "version"),
            *saw(packages, "tensorflow.version"),
            *refused,
        ),
        fix=repairs(context, needed=needed, version=newest),
    )


def _refused(stack: CudaStack, context: Context) -> Finding:
    """Report the driver's own error: the library requires a newer kernel driver."""
    cuda, driver = stack.cuda, stack.driver
    result = results.cuda(str(cuda.result or 0))
    name = cuda.result_name or (result.name if result is not None else "error")
    version = f" {driver.version}" if driver.version else ""
    return Finding(
        summary=f"The NVIDIA driver{version} is too old for the loaded CUDA library: cuInit returned {name} ({cuda.result}).",
        evidence=(*saw(cuda, "result", "result_name", "library"), *saw(driver, "version")),
        fix=repairs(context),
    )


def _newest_cuda(stack: CudaStack, kernel_module: KernelModule | None) -> tuple[str | None, tuple[Evidence, ...]]:
    """Return the newest supported CUDA, from libcuda first: a forward-compatibility libcuda supports more than the driver."""
    if stack.cuda.driver_version:
        return stack.cuda.driver_version, saw(stack.cuda, "driver_version")
    if stack.driver.cuda_version:
        return stack.driver.cuda_version, saw(stack.driver, "cuda_version")
    for fact in (stack.driver, kernel_module):
        if fact is not None and fact.version and (by_branch := cuda_of_driver(fact.version)):
            return by_branch, saw(fact, "version")
    return None, ()


def repairs(context: Context, *, needed: str = "", condition: str = "", version: str = "", text: str = "") -> Fixes:
    """Install a newer driver, or a program for the current one.

    Args:
        context: what is known about the machine.
        needed: the CUDA version that the program needs: "12.4"; empty if unknown.
        condition: "driver" if ``needed`` is a driver version.
        version: the newest CUDA that the driver supports: "11.4", or CUDA's number for it: "11040".
        text: the line that reports it.
    """
    conda = "__cuda" in text and not version
    if conda:
        yield for_another_machine(needed)
    branch = needed.partition(".")[0] if condition == "driver" else branch_of_cuda(needed) if needed else None
    yield from install_driver(context, f"Install a newer NVIDIA driver{f' (branch {branch} or newer)' if branch else ''}")
    if re.search(r"unsatisfied condition|nvidia-container", text):
        yield Fix(text="Or use an image that was built with a CUDA version that the driver supports")
    elif older := _for_this_driver(context, version):
        yield older
    elif not conda:
        yield Fix(text="Or install a build of the program for a CUDA version that the driver supports (see nvidia-smi)")


def _for_this_driver(context: Context, version: str) -> Fix | None:
    """Return a build for this driver, if its version or its CUDA is known."""
    if version.isdecimal() and len(version) > len("12.4"):
        version = versions.of_cuda(int(version))
    branch = branch_of_cuda(version) if version else None
    if context.driver is None or context.driver.version is None:
        if branch is None:
            return None
        context = replace(context, driver=Driver(status="ok", version=f"{branch}.0"))
    if context.framework == "jax":
        return jax_for_cuda_12(context)
    return context.with_cuda(context.framework or "tensorflow", configured=True).after("Or")
