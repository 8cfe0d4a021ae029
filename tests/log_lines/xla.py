"""XLA and its tools: ptxas, libdevice, flags, and the backends JAX tried.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "autotuner-failed": (
        ("op_kernel.cc:1858] INTERNAL: Autotuner could not find any supported configs for HLO: %cudnn-conv", {}),
        ("XlaRuntimeError: INTERNAL: Autotuner could not find any supported configs for HLO: %gemm", {}),
    ),
    "backend-unavailable": (
        (
            "INFO:jax._src.xla_bridge:Unable to initialize backend 'cuda': module has no attribute",
            {"backend": "cuda", "fatal": "no"},
        ),
        ("RuntimeError: Unable to initialize backend 'rocm': NOT_FOUND: no platform", {"backend": "rocm", "fatal": "yes"}),
    ),
    "jax-version-conflict": (
        ("RuntimeError: jaxlib version 0.4.36 is newer than and incompatible with jax version 0.4.30.", {"jaxlib": "0.4.36"}),
        ("RuntimeError: jaxlib version 0.4.1 is older than the minimum version required by this jax", {"jaxlib": "0.4.1"}),
    ),
    "libdevice-missing": (
        ("InternalError: libdevice not found at ./libdevice.10.bc [Op:__inference_train]", {"fatal": "yes"}),
        (
            "W gpu_backend_lib.cc:543] Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in",
            {"fatal": "no"},
        ),
    ),
    "ptxas-failed": (
        ("INTERNAL: ptxas exited with non-zero error code 65280, output:", {"code": "65280"}),
        ("ptxas fatal   : Unresolved extern function '__nv_expf'", {}),
    ),
    "ptxas-missing": (
        ("W asm_compiler.cc:80] Couldn't get ptxas version string: INTERNAL: Couldn't invoke ptxas --version", {}),
        ("W redzone_allocator.cc:314] INTERNAL: Failed to launch ptxas", {}),
        ("F nvptx_compiler.cc:604] ptxas returned an error: Can't find ptxas binary in ${CUDA_DIR}/bin.", {}),
        ("INTERNAL: No PTX compilation provider is available. Neither ptxas/nvlink nor nvjtlink is available.", {}),
    ),
    "ptxas-too-old": (
        ("ptxas fatal   : Value 'sm_120' is not defined for option 'gpu-name'", {"target": "sm_120"}),
        ("Falling back to the CUDA driver for PTX compilation; ptxas does not support CC 8.9", {"target": "8.9"}),
        (
            "You are using ptxas 10.1.243, which is older than 11.1. ptxas before 11.1 is known to miscompile",
            {"version": "10.1.243"},
        ),
        (
            "ptxas /tmp/x.ptx, line 9; fatal : Unsupported .version 8.4; current version is '8.2'",
            {"needed": "8.4", "version": "8.2"},
        ),
    ),
    "xla-compiled": (
        ("I device_compiler.h:186] Compiled cluster using XLA!  This line is logged at most once", {}),
        ("I xla_compilation_cache.cc:476] Compiled cluster using XLA!", {}),
    ),
    "xla-device": (
        ("I service.cc:176]   StreamExecutor device (0): NVIDIA GeForce RTX 4090, Compute Capability 8.9", {"capability": "8.9"}),
        (
            "I0000 service.cc:161]   StreamExecutor [0]: NVIDIA H200, Compute Capability 9.0a (Driver: 13.0.0)",
            {"name": "NVIDIA H200"},
        ),
    ),
    "xla-flag-unknown": (
        (
            "F0000 00:00:1.1 7 parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --xla_bogus_flag=1",
            {"flag": "--xla_bogus_flag=1"},
        ),
        ("F parse_flags_from_env.cc:226] Unknown flags in XLA_FLAGS: --xla_gpu_old=true --other", {"flag": "--xla_gpu_old=true"}),
    ),
}

NOT_MEANT = {
    "autotuner-failed": ("Autotuner found 3 supported configs",),
    "backend-unavailable": ("Able to initialize backend 'cuda'",),
    "jax-version-conflict": ("jaxlib version 0.4.36",),
    "libdevice-missing": ("found libdevice at /usr/local/cuda/nvvm/libdevice/libdevice.10.bc",),
    "ptxas-failed": ("ptxas info    : 0 bytes gmem",),
    "ptxas-missing": (
        "I asm_compiler.cc:369] ptxas warning : Registers are spilled to local memory in function 'triton'",
        "W redzone_allocator.cc:312] Internal: Invoking ptxas not supported on Windows",
        "Modify $PATH to customize ptxas location.",
    ),
    "ptxas-too-old": ("using ptxas 12.5.82",),
    "xla-compiled": ("XLA service 0x7f initialized for platform CUDA",),
    "xla-device": ("StreamExecutor device (0): Host, Default Version",),
    "xla-flag-unknown": ("XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda",),
}
