"""Training needed more GPU memory than was available.

Symptom:
    tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,256,56,56]
    Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.46GiB
    CUDA_ERROR_OUT_OF_MEMORY: out of memory
Cause:
    The weights, the optimizer's state and, above all, the activations of one batch did not fit. Activations grow with the batch
    size and with the input size.
Fix:
    1. Halve the batch size until it fits; gradient accumulation keeps the effective batch: Adam(gradient_accumulation_steps=2)
    2. Halve the activations: keras.mixed_precision.set_global_policy("mixed_float16") ("mixed_bfloat16" from Ampere on)
    3. If it fails although enough memory is free, reduce fragmentation with CUDA's own allocator
       $ export TF_GPU_ALLOCATOR=cuda_malloc_async
    4. Use a GPU with more memory, or split the model across several
Verify:
    tf.config.experimental.get_memory_info("GPU:0")["peak"] stays below the memory of the GPU.
Unless:
    The message ends in "The caller indicates that this is not a failure": TensorFlow then only tried a faster algorithm.
Example:
    training.runs[0].status = "failed"
    training.runs[0].stage = "first step"
    training.runs[0].reason = "ResourceExhaustedError: OOM when allocating tensor with shape[64,128,16,16] on GPU:0 by allocator GPU_0_bfc"
    training.runs[1].status = "skipped"
    -> GPU memory ran out in one_device on GPU:0: ResourceExhaustedError: OOM when allocating tensor with shape[64,128,16,16] on GPU:0 by allocator GPU_0_bfc.
References:
    https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    https://keras.io/api/mixed_precision/
"""

import re

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.training_outcomes import on_gpu
from gpucheck.core.model import Finding, Fix, Scope, Severity, Skip, TrainingRun
from gpucheck.core.model.plugin import rule

EXHAUSTED = r"OOM when allocating|ResourceExhausted|RESOURCE_EXHAUSTED|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation|[Oo]ut of memory"
HOST = r"allocator cpu|MemoryError|bad_alloc|Cannot allocate memory"
FIX = (
    Fix(text="Halve the batch size (or the input's height and width) until it fits"),
    Fix(text='Keep activations in 16 bits before the model is built: keras.mixed_precision.set_global_policy("mixed_float16")'),
    Fix(
        text="If it fails although enough memory is free, reduce fragmentation with CUDA's own allocator",
        command="export TF_GPU_ALLOCATOR=cuda_malloc_async",
    ),
)


@rule(severity=Severity.ERROR, scope=Scope.CODE, explains=("training-failed", "training-crashed"))
def check(log_causes: LogCauses) -> Finding | Skip | None:
    """Report a run on a GPU, or a log, in which an allocation of GPU memory failed for good."""
    summary = "GPU memory ran out in {run}: {text}."
    failure = log_causes.failure("gpu-memory-exhausted", EXHAUSTED, summary, FIX, on=_device_memory)
    return failure or log_causes.outcomes.skip


def _device_memory(run: TrainingRun) -> bool:
    return on_gpu(run) and not re.search(HOST, run.reason or "")
