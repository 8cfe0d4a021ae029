"""cuDNN, NVIDIA's library for neural networks, could not be initialized on the GPU.

Symptom:
    Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR
    Failed to get convolution algorithm. This is probably because cuDNN failed to initialize
    DNN library initialization failed. Look at the errors above for more details.
Cause:
    cuDNN needs memory in addition to TensorFlow's own. If TensorFlow or another process has taken all of it, cuDNN can't start.
    A cuDNN version that does not match TensorFlow fails the same way, and is reported as cudnn-version-mismatch.
Verify:
    gpucheck trains its convolutional network: one_device on GPU:0 passed.
Unless:
    "Failed to determine cuDNN version (Note that this is expected ...)" alone is harmless.
Example:
    training.runs[0].status = "failed"
    training.runs[0].stage = "first step"
    training.runs[0].reason = "FailedPreconditionError: DNN library initialization failed. Look at the errors above for more details."
    training.runs[1].status = "skipped"
    log.events = [{"kind": "cudnn-failed", "line": 31, "text": "E cuda_dnn.cc:338] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR", "fields": {"status": "CUDNN_STATUS_INTERNAL_ERROR"}}]
    -> cuDNN could not start (CUDNN_STATUS_INTERNAL_ERROR), usually because too little GPU memory is left for it.
References:
    https://docs.nvidia.com/deeplearning/cudnn/backend/latest/api/cudnn-graph-library.html#cudnnstatus-t
"""

from gpucheck.core.combiners.log_causes import LogCauses
from gpucheck.core.model import Finding, Fixes, Scope, Skip, rule
from gpucheck.core.repairs.context import Context
from gpucheck.core.rules.out_of_memory._library_start import leave_memory, library_start_failure


@rule(scope=Scope.ENVIRONMENT, explains=("training-failed", "training-crashed"))
def check(log_causes: LogCauses, context: Context) -> Finding | Skip | None:
    """Report a run that failed in cuDNN, or a log with that error if no run passed."""
    return library_start_failure(log_causes, context, "cuDNN", "cudnn-init-failed", "cudnn-missing")


def repairs(context: Context, *, spare: str = "") -> Fixes:
    """Leave memory for cuDNN.

    Args:
        context: what is known about the machine.
        spare: "yes" if enough of the GPU's memory is free, so memory is not the reason.
    """
    return leave_memory(context, "cuDNN", spare)
