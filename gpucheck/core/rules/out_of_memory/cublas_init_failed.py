"""cuBLAS, CUDA's matrix library, could not start on the GPU.

Symptom:
    failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED
    failed to create cublas handle: CUBLAS_STATUS_ALLOC_FAILED
    Attempting to perform BLAS operation using StreamExecutor without BLAS support
Cause:
    cuBLAS takes its own workspace from what TensorFlow leaves. Nearly always none was left: another process holds the memory,
    or TensorFlow itself took all of it. Otherwise cuBLAS and cuBLASLt come from different CUDA releases.
Fix:
    1. Leave cuBLAS some memory
       $ export TF_FORCE_GPU_ALLOW_GROWTH=true
    2. See whether another process holds the GPU's memory
       ? nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv
    3. Reinstall the CUDA libraries that belong to this TensorFlow
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
    -> cuBLAS could not start (CUBLAS_STATUS_NOT_INITIALIZED), mostly because too little GPU memory is left for it.
References:
    https://docs.nvidia.com/cuda/cublas/index.html#cublasstatus-t
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.engine.plugin import rule
from gpucheck.core.model import Finding, Scope, Severity, Skip
from gpucheck.core.rules.out_of_memory._library_start import library_start_failure

FAILED = r"CUBLAS_STATUS_\w+|cublas handle|without BLAS support|[Bb]las (xGEMM|GEMM) launch failed"


@rule(severity=Severity.ERROR, scope=Scope.ENVIRONMENT, explains=("training-failed", "training-crashed"))
def check(log_causes: LogCauses) -> Finding | Skip | None:
    """A run failed in cuBLAS, or the log of a run that did not pass says so."""
    return library_start_failure(log_causes, "cublas-init-failed", "cuBLAS", FAILED)
