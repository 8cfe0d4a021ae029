"""Kernels that do not fit the GPU: images and PTX that it rejects, compute capabilities without any, and which GPU it is.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "gpu-named": (
        ("On a GTX 1070 Ti it ends at once.", {"gpu": "GTX 1070 Ti"}),
        ("the node's V100 is sm_70, older than that", {"gpu": "V100", "capability": "sm_70"}),
    ),
    "kernel-image-missing": (
        ("ERROR: CUDA kernel mul_mat_q has no device code compatible with CUDA arch 520.", {"capability": "5.2"}),
        ("has no device code compatible with CUDA arch 1210. ggml-cuda.cu was compiled for: 890", {"capability": "12.1"}),
        ("CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image is available for execution on the device", {"code": "209"}),
        ("RuntimeError: CUDA error: no kernel image is available for execution on the device", {"code": "209"}),
        (
            "RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
            {"capability": "sm_120"},
        ),
    ),
    "ptx-unsupported": (
        ("'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'", {"code": "218"}),
        ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled with an unsupported toolchain.", {"code": "222"}),
        ("RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.", {"code": "222"}),
    ),
}

NOT_MEANT = {
    "gpu-named": ("a GeForce of some kind", "ASRTX 4090-lookalike"),
    "kernel-image-missing": ("kernel image 6.8.0-45 is available",),
    "ptx-unsupported": ("CUDA kernels will be jit-compiled from PTX",),
}
