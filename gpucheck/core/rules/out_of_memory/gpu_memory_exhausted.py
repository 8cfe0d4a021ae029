"""Training needed more GPU memory than was available.

Symptom:
    tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,256,56,56]
    Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.46GiB
    CUDA_ERROR_OUT_OF_MEMORY: out of memory
Cause:
    The weights, the optimizer's state and, above all, the activations of one batch did not fit. Activations grow with the batch
    size and with the input size. Replicas add no memory: with MirroredStrategy each GPU holds all weights, gradients and
    optimizer state, and only the batch is divided. A model that is too large for one GPU needs gradient checkpointing, weights
    and optimizer state that are sharded, or layers that are spread over GPUs (model parallelism).
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

import math
import re

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.combiners.training_outcomes import on_gpu
from gpucheck.core.model import Finding, Fix, Fixes, Scope, Skip, rule
from gpucheck.core.model.wording import gib
from gpucheck.core.repairs.context import Context
from gpucheck.core.repairs.fixes import HOLDERS

_KERNEL = 11  # the first two sizes of a convolution's weights are at most this
_LARGE_SAMPLE = 1 << 30  # bytes of one tensor for one sample: no batch size helps


@rule(scope=Scope.CODE, explains=("training-failed", "training-crashed"))
def check(log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report a run on a GPU, or its log, in which an allocation of GPU memory failed for good."""
    summary, fix = "GPU memory ran out in {run}: {text}.", repairs(context, own_model=True)
    failure = log_causes.failure("gpu-memory-exhausted", summary, fix, on=on_gpu)
    return failure or log_causes.outcomes.skip


def repairs(
    context: Context,
    *,
    shape: str = "",
    allocator: str = "",
    own_model: bool = False,
    whole: str = "",
    device: str = "",
    loading: str = "",
) -> Fixes:
    """Reduce memory use.

    Args:
        context: what is known about the machine.
        shape: the shape of the tensor that did not fit: "[64,256,56,56]".
        allocator: the allocator that failed; "cuda": CUDA's own, below the framework's;
            "code": CUDA had no room for a kernel's code next to JAX's pool.
        own_model: whether gpucheck's own small model ran out of memory.
        whole: the operation that copied a whole array, a dataset's data, to the GPU.
        device: where memory ran out: "GPU:0", "TPU".
        loading: not empty if the weights of a preset were loaded, before any batch.
    """
    if own_model:
        yield Fix(text="End other processes that use this GPU's memory, or use another GPU: gpucheck's own model is small")
        yield HOLDERS
        return
    if whole:
        yield Fix(
            text="Keep the data in main memory: pass NumPy arrays, a keras.utils.PyDataset or tf.data.Dataset.from_generator to"
            ' fit; or create the dataset under with tf.device("CPU:0"), because from_tensor_slices copies all data to the GPU'
        )
    if allocator == "code" and context.framework == "jax":
        yield Fix(
            text="Reserve less memory for JAX: the code of kernels needs room outside its pool",
            command="export XLA_PYTHON_CLIENT_MEM_FRACTION=0.7",
        )
    if loading:
        yield Fix(
            text='Load smaller weights: from_preset(NAME, dtype="bfloat16"), then model.quantize("int8"), or a smaller preset; on several'
            " devices, set keras.distribution.ModelParallel first"
        )
    if (of_one := _sample_bytes(shape)) >= _LARGE_SAMPLE:
        yield Fix(
            text=f"Make the inputs smaller (images of 512 x 512 pixels, shorter sequences): one sample of the tensor {shape} takes {gib(of_one)} in float32"
        )
    named = f"; the tensor that did not fit has the shape {shape}" if shape else ""
    yield Fix(text=f"Halve the batch size until it fits, then the input size{named}")
    kind = "TPU" if device == "TPU" else "GPU"
    yield from _smaller(context.framework, kind)
    yield Fix(text=f"Use a {kind} with more memory, or shard the model; replicas (MirroredStrategy, DDP) add no memory for it")
    if allocator in ("cuda", "code"):
        yield HOLDERS


def _sample_bytes(shape: str) -> int:
    """Return the size in float32 of one sample of a batch of images, volumes or attention's scores; 0 for other tensors."""
    sizes = [int(size) for size in re.findall(r"\d+", shape)]
    if len(sizes) < 4 or sizes[0] == sizes[1] <= _KERNEL:
        return 0
    return 4 * math.prod(sizes[1:])


def _smaller(framework: str | None, kind: str) -> Fixes:
    """Yield fixes that reduce the memory of the same batch; ``kind``: "GPU" or "TPU"."""
    if framework == "torch":
        yield Fix(text='Keep activations in 16 bits: with torch.autocast("cuda", dtype=torch.bfloat16)')
        yield Fix(text="Recompute activations instead of keeping them: torch.utils.checkpoint.checkpoint")
        yield Fix(
            text="If the message reports that much memory is reserved but unallocated, reduce fragmentation",
            command="export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        )
    elif framework == "jax":
        yield Fix(text="Recompute activations instead of keeping them: jax.checkpoint")
    else:
        policy = "mixed_bfloat16" if kind == "TPU" else "mixed_float16"
        yield Fix(
            text=f'Keep activations in 16 bits: keras.mixed_precision.set_global_policy("{policy}") before the model is built'
        )
        yield Fix(
            text="Accumulate the gradients of smaller batches (Adam(gradient_accumulation_steps=2)), or recompute activations"
            " (keras.RematScope()), both in Keras 3"
        )
        if kind == "GPU":
            yield Fix(
                text="If it fails although enough memory is free, reduce fragmentation with CUDA's own allocator",
                command="export TF_GPU_ALLOCATOR=cuda_malloc_async",
            )
