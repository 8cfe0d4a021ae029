"""XLA's tools and flags: libdevice, ptxas, XLA_FLAGS.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "libdevice-missing": (
        """
        W gpu_backend_lib.cc:540] libdevice is required by this HLO module but was not found at ./libdevice.10.bc
        tensorflow.python.framework.errors_impl.UnknownError: JIT compilation failed.
        """,
        "libdevice.10.bc: error: Could not open input file: No such file or directory",
        """
        W tensorflow/compiler/xla/service/gpu/nvptx_helper.cc:56] Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in compilation or runtime failures
        W tensorflow/core/framework/op_kernel.cc:1830] OP_REQUIRES failed at xla_ops.cc:418 : INTERNAL: libdevice not found at ./libdevice.10.bc
        Node: 'StatefulPartitionedCall_2'
        libdevice not found at ./libdevice.10.bc
        """,
        """
        InternalError: 2 root error(s) found.
        (0) INTERNAL: libdevice not found at ./libdevice.10.bc
        [[{{node StatefulPartitionedCall_8}}]]
        """,
        """
        error: Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice.
        error: libdevice not found at ./libdevice.10.bc
        UnknownError: JIT compilation failed. [Op:Sqrt]
        """,
        "tensorflow.python.framework.errors_impl.UnknownError: JIT compilation failed. [Op:Rsqrt]",
    ),
    "ptxas-missing": (
        """
        ptxas /tmp/t.ptx, line 9; fatal   : Unsupported .version 8.4; current version is '7.5'
        RuntimeError: the kernel could not be assembled
        """,
        """
        W external/local_xla/xla/stream_executor/gpu/asm_compiler.cc:231] Falling back to the CUDA driver for PTX compilation; couldn't find ptxas
        tensorflow.python.framework.errors_impl.UnimplementedError: ...
        """,
        """
        E0000 00:00:1 1 nvptx_compiler.cc:1] INTERNAL: No PTX compilation provider is available. Neither ptxas/nvlink nor nvtjlink is available. As a fallback you can enable JIT
        jaxlib.xla_extension.XlaRuntimeError: NOT_FOUND: Couldn't find a suitable version of ptxas.
        """,
        "jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: Couldn't get ptxas/nvlink version string: INTERNAL: Couldn't invoke ptxas --version",
        """
        RuntimeError: Cannot find ptxas
        triton.runtime.errors: `ptxas` not found
        """,
    ),
    "xla-flags-unknown": (
        "E tensorflow/core/util/command_line_flags.cc:106] Couldn't interpret value =on for flag tf_xla_auto_jit.",
        "F0000 00:00:1 77 parse_flags_from_env.cc:229] Unknown flag in XLA_FLAGS: --xla_gpu_enable_triton_softmax_fusion=true",
        """
        F external/local_xla/xla/parse_flags_from_env.cc:225] Unknown flags in XLA_FLAGS: --xla_gpu_enable_triton_gemm=false --xla_gpu_simplify=1
        Perhaps you meant to specify these on the TF_XLA_FLAGS envvar?
        """,
        """
        2024: F external/xla/xla/parse_flags_from_env.cc:226] Unknown flag in XLA_FLAGS: --xla_gpu_cuda_data_dirs=/usr/local/cuda
        Aborted (core dumped)
        """,
    ),
}

WARNED = {
    "libdevice-missing": (
        "Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in compilation or runtime failures, if the program we try to run uses routines from libdevice.",
        "Searched for CUDA in the following directories:\n  ./cuda_sdk_lib\n  /usr/local/cuda",
    ),
    "ptxas-missing": (
        """
        W redzone_allocator.cc:322] INTERNAL: Failed to launch ptxas
        Relying on driver to perform ptx compilation.
        """,
        """
        W tensorflow/stream_executor/gpu/redzone_allocator.cc:314] Not found: ./bin/ptxas not found
        Relying on driver to perform ptx compilation. Modify $PATH to customize ptxas location.
        """,
    ),
}

NO_ERROR = (
    """
        ptxas does not support CC 12.0
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
)

QUIET = (
    # for ptxas, of which the line before says that it does without
    """
    W tensorflow/compiler/xla/service/gpu/nvptx_compiler.cc:71] Searched for CUDA in the following directories:
    W tensorflow/compiler/xla/service/gpu/nvptx_compiler.cc:74]   ./cuda_sdk_lib
    """,
)
