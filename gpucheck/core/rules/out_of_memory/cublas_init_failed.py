"""cuBLAS, CUDA's matrix library, could not be initialized on the GPU.

Symptom:
    failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED
    failed to create cublas handle: CUBLAS_STATUS_ALLOC_FAILED
    - Attempting to perform BLAS operation using StreamExecutor without BLAS support
Cause:
    cuBLAS allocates its own workspace from the memory that TensorFlow leaves free. Usually nothing was left: another process uses
    the memory, or TensorFlow itself took all of it. Otherwise cuBLAS and cuBLASLt come from different CUDA releases.
Verify:
    $ python -c "import tensorflow as tf; print(tf.linalg.matmul(tf.ones((64, 64)), tf.ones((64, 64)))[0, 0])"
Unless:
    The line "Unable to register cuBLAS factory" alone is harmless.
Example:
    training.runs[0].status = "failed"
    training.runs[0].stage = "first step"
    training.runs[0].reason = "InternalError: Attempting to perform BLAS operation using StreamExecutor without BLAS support"
    training.runs[1].status = "skipped"
    log.events = [{"kind": "cublas-failed", "line": 31, "text": "E cuda_blas.cc:366] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED", "fields": {"status": "CUBLAS_STATUS_NOT_INITIALIZED"}}]
    -> cuBLAS could not start (CUBLAS_STATUS_NOT_INITIALIZED), usually because too little GPU memory is left for it.
References:
    https://docs.nvidia.com/cuda/cublas/index.html#cublasstatus-t
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.model import Finding, Fixes, Scope, Skip, rule
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.out_of_memory._library_start import leave_memory, library_start_failure


@rule(scope=Scope.ENVIRONMENT, explains=("training-failed", "training-crashed"))
def check(log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report a run that failed in cuBLAS, or a log with that error if no run passed."""
    return library_start_failure(log_causes, context, "cuBLAS", "cublas-init-failed")


def repairs(context: Context, *, spare: str = "") -> Fixes:
    """Leave memory for cuBLAS.

    Args:
        context: what is known about the machine.
        spare: "yes" if enough of the GPU's memory is free, so memory is not the reason.
    """
    return leave_memory(context, "cuBLAS", spare)
