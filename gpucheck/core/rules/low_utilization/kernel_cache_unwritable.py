"""The driver can't cache the kernels that it compiles for this GPU, so every start compiles them again.

Symptom:
    mkdir: cannot create directory '/.nv/ComputeCache': Permission denied
    - Every run starts slowly, not only the first one.
    - CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.
Cause:
    TensorFlow has no native code for this GPU, so the driver compiles PTX at the first use and keeps the result in
    ~/.nv/ComputeCache. That folder is not writable (a read-only file system, another user's home, no home), or
    CUDA_CACHE_DISABLE=1 is set.
Verify:
    The second start is faster than the first, and the folder has files.
Unless:
    Jobs run for days, and a few minutes at the start don't matter.
Example:
    limits.kernel_cache_writable = false
    -> CUDA's kernel cache /home/user/.nv/ComputeCache is not writable, so each start compiles TensorFlow's kernels for GPU 0 (NVIDIA H200) again.
References:
    https://docs.nvidia.com/cuda/cuda-c-programming-guide/#env-vars
    https://developer.nvidia.com/blog/cuda-pro-tip-understand-fat-binaries-jit-caching/
"""

from gpucheck.core.combiners.gpus_in_use import GpusInUse
from gpucheck.core.combiners.resources import Resources
from gpucheck.core.combiners.tensorflow_build import TensorFlowBuild
from gpucheck.core.model import Assignment, Finding, Fix, Fixes, Operation, Scope, Severity, Skip, rule, saw
from gpucheck.core.probes.limits import Limits
from gpucheck.core.repairs.context import Context
from gpucheck.core.system.shells import statement, word

_ENABLE = Assignment(
    variable="CUDA_CACHE_DISABLE",
    operation=Operation.UNSET,
    reason="kernels compiled for this GPU are discarded when the process ends",
)


@rule(
    severity=Severity.WARNING,
    scope=Scope.ENVIRONMENT,
    explains=("kernels-jit-compiled",),
    tensorflow=True,
    first_check="the variable CUDA_CACHE_PATH, and the free space there",
)
def check(resources: Resources, used: GpusInUse, build: TensorFlowBuild, context: Context) -> Finding | Skip | None:
    """Report a disabled or unwritable cache, if TensorFlow has no native code for a GPU."""
    limits = resources.limits
    if limits is None:
        return Skip("the limits of this process are not known")
    disabled, writable, kernels = limits.kernel_cache_disabled, limits.kernel_cache_writable, build.kernels
    if not used.gpus.gpus or (writable and not disabled):
        return None
    if writable is None and not disabled:
        return Skip("whether CUDA's kernel cache can be written is not known")
    capable = [(gpu, gpu.compute_capability) for _, gpu in used.used if gpu.compute_capability is not None]
    if kernels is None or not capable:
        return Skip("which kernels TensorFlow has for these GPUs is not known")
    compiled = [gpu for gpu, capability in capable if not kernels.runs_natively(capability)]
    if not compiled:
        return None
    state = "is disabled (CUDA_CACHE_DISABLE)" if disabled else "is not writable"
    where = "" if disabled or limits.kernel_cache is None else f" {limits.kernel_cache}"
    path = _path(limits)
    return Finding(
        summary=f"CUDA's kernel cache{where} {state}, so each start compiles TensorFlow's kernels for {compiled[0].title} again.",
        evidence=(
            *saw(limits, "kernel_cache", "kernel_cache_disabled" if disabled else "kernel_cache_writable"),
            *kernels.evidence,
        ),
        fix=repairs(context, disabled=bool(disabled), other=path.value if path is not None else ""),
        assignments=(*((_ENABLE,) if disabled else ()), *((path,) if path is not None else ())),
        affects=tuple(gpu.label for gpu in compiled),
    )


def _path(limits: Limits) -> Assignment | None:
    """Store the kernels in the alternative folder; None if the present one is writable, or no other is known."""
    other = limits.kernel_cache_other
    if limits.kernel_cache_writable is not False or not other or not other.isprintable():
        return None
    return _keep_in(other)


def _keep_in(folder: str) -> Assignment:
    reason = "kernels compiled for this GPU can't be stored in CUDA's default folder"
    return Assignment(variable="CUDA_CACHE_PATH", operation=Operation.SET, value=folder, reason=reason)


def repairs(context: Context, *, disabled: bool | None = None, other: str = "") -> Fixes:
    """Let the driver store the kernels.

    Args:
        context: what is known about the machine.
        disabled: whether a variable disables the cache; None: unknown.
        other: a writable folder for it.
    """
    if disabled:
        yield Fix(text="Enable the cache again", command=statement(_ENABLE))
    volume = "" if context.kinds["container"] == "" else " (in a container: on a mounted volume)"
    yield Fix(
        text=f"Use a writable cache folder that persists after the process ends{volume}",
        command=f"{statement(_keep_in(other))} && mkdir -p {word(other)}"
        if other
        else 'export CUDA_CACHE_PATH="/var/tmp/cuda-cache-$(id -u)" && mkdir -p "$CUDA_CACHE_PATH"',
    )
    if disabled is None:
        yield Fix(text="If CUDA_CACHE_DISABLE=1 is set, enable the cache again", command=statement(_ENABLE))
