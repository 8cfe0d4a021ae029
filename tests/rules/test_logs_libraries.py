"""Logs about CUDA's libraries, XLA's tools and a GPU's generation, as several versions and frameworks put them."""

import pytest
from one_rule import assert_named, told_by

from gpucheck.model import Severity

NAMED = [
    (
        "cudnn-version-mismatch",
        """
        E tensorflow/stream_executor/cuda/cuda_dnn.cc:320] Loaded runtime CuDNN lib
        rary: 7.4.2 but source was compiled with: 7.6.0.  CuDNN library major and minor ver
        """,
    ),
    (
        "libdevice-missing",
        """
        W gpu_backend_lib.cc:540] libdevice is required by this HLO module but was not found at ./libdevice.10.bc
        tensorflow.python.framework.errors_impl.UnknownError: JIT compilation failed.
        """,
    ),
    (
        "libdevice-missing",
        "libdevice.10.bc: error: Could not open input file: No such file or directory",
    ),
    (
        "xla-flags-unknown",
        "E tensorflow/core/util/command_line_flags.cc:106] Couldn't interpret value =on for flag tf_xla_auto_jit.",
    ),
    (
        "ptxas-missing",
        """
        ptxas /tmp/t.ptx, line 9; fatal   : Unsupported .version 8.4; current version is '7.5'
        RuntimeError: the kernel could not be assembled
        """,
    ),
    (
        "cuda-libraries-missing",
        """
        2023-01-05 10:00:00.1: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory
        2023-01-05 10:00:00.2: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcublas.so.11'; dlerror: libcublas.so.11: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /opt/lib
        2023-01-05 10:00:00.3: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /opt/lib
        2023-01-05 10:00:00.4: W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
    ),
    (
        "cuda-libraries-missing",
        """
        [1,0]<stderr>:2024-03-03 01:02:03.4: W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
    ),
    (
        "cuda-libraries-missing",
        "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
    ),
    (
        "cuda-libraries-missing",
        "OSError: libcurand.so.10: cannot open shared object file: No such file or directory",
    ),
    (
        "cuda-libraries-missing",
        "ImportError: libcusparseLt.so.0: cannot open shared object file: No such file or directory",
    ),
    (
        "cuda-libraries-missing",
        """
        2022-08-08 11:11:11.1: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'cublas64_11.dll'; dlerror: cublas64_11.dll not found
        2022-08-08 11:11:11.2: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'cusparse64_11.dll'; dlerror: cusparse64_11.dll not found
        2022-08-08 11:11:11.3: W tensorflow/core/common_runtime/gpu/gpu_device.cc:1850] Cannot dlopen some GPU libraries.
        """,
    ),
    (
        "cuda-libraries-missing",
        """
        E0000 00:00:1760000000.1 12 cuda_executor.cc:1737] INTERNAL: CUDA Runtime error: Failed call to cudaGetRuntimeVersion: Error loading CUDA libraries. GPU will not be used.
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
    ),
    (
        "cuda-libraries-missing",
        """
        Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object file: No such file or directory
        Aborted (core dumped)
        """,
    ),
    (
        "cuda-libraries-missing",
        "ImportError: libnvrtc.so.12: cannot open shared object file: No such file or directory",
    ),
    (
        "cuda-libraries-missing",
        "RuntimeError: jaxlib/cuda... Unable to load cuSPARSE. Is it installed?",
    ),
    (
        "cuda-libraries-missing",
        """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:59] Could not load dynamic library 'libcusolver.so.10'; dlerror: libcusolver.so.10: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda/lib64
        W gpu_device.cc:1757] Cannot dlopen some GPU libraries.
        """,
    ),
    (
        "cuda-libraries-missing",
        "ImportError: Could not find 'cudart64_100.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH% environment variable. Download and install CUDA 10.0",
    ),
    (
        "cuda-libraries-missing",
        "OSError: libcublas.so.12: cannot open shared object file: No such file or directory",
    ),
    (
        "cuda-libraries-unreachable",
        """
        Successfully installed keras-3.12.0 nvidia-cublas-cu12-12.5.3.2 nvidia-cudnn-cu12-9.3.0.75 tensorflow-2.21.0
        $ python train.py
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
    ),
    (
        "cuda-libraries-unreachable",
        """
        I0000 00:00:1.1 9 dso_loader.cc:133] Successfully opened dynamic library libcudart.so.12
        I0000 00:00:1.2 9 dso_loader.cc:133] Successfully opened dynamic library libcublas.so.12
        I0000 00:00:1.3 9 dso_loader.cc:144] Could not load dynamic library 'libcusolver.so.11'; dlerror: libcusolver.so.11: cannot open shared object file: No such file or directory
        W0000 00:00:1.4 9 gpu_device.cc:2365] Cannot dlopen some GPU libraries.
        """,
    ),
    (
        "cuda-version-mismatch",
        """
        I tensorflow/stream_executor/platform/default/dso_loader.cc:44] Successfully opened dynamic library libcudart.so.10.1
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcublas.so.11'; dlerror: libcublas.so.11: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-10.1/lib64
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
    ),
    (
        "cuda-version-mismatch",
        """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-12.2/lib64
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcusparse.so.11'; dlerror: libcusparse.so.11: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-12.2/lib64
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
    ),
    (
        "cuda-version-mismatch",
        "RuntimeError: The detected CUDA version (12.4) mismatches the version that was used to compile PyTorch (11.8). Please make sure to use the same CUDA versions.",
    ),
    (
        "cuda-version-mismatch",
        "RuntimeError: Found cuSPARSE version 12000, but JAX was built against version 12103, which is newer.",
    ),
    (
        "cudnn-missing",
        """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
    ),
    (
        "cudnn-missing",
        """
        Could not locate cudnn_ops_infer64_8.dll. Please make sure it is in your library path!
        Process finished with exit code -1073740791
        """,
    ),
    (
        "cudnn-missing",
        """
        Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file: No such file or directory
        Aborted (core dumped)
        """,
    ),
    (
        "cudnn-missing",
        """
        Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, libcudnn_ops.so}
        Invalid handle. Cannot load symbol cudnnCreateTensorDescriptor
        Aborted (core dumped)
        """,
    ),
    (
        "cudnn-missing",
        "[rank0]: ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory",
    ),
    (
        "cudnn-missing",
        "ImportError: libcudnn.so.7: cannot open shared object file: No such file or directory",
    ),
    (
        "cudnn-version-mismatch",
        """
        2021-02-02 02:02:02.2: E tensorflow/stream_executor/cuda/cuda_dnn.cc:319] Loaded runtime CuDNN library: 7.1.4 but source was compiled with: 7.6.4.  CuDNN library major and minor version needs to match or have higher minor version.
        tensorflow.python.framework.errors_impl.UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize
        """,
    ),
    (
        "cudnn-version-mismatch",
        "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime version (8, 9, 2).",
    ),
    (
        "cudnn-version-mismatch",
        "RuntimeError: cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH",
    ),
    (
        "cudnn-version-mismatch",
        """
        RuntimeError: Unable to load cuDNN. Is it installed?
        Found cuDNN version 8600, but JAX was built against version 8904, which is newer.
        """,
    ),
    (
        "cudnn-version-mismatch",
        "E tensorflow/stream_executor/cuda/cuda_dnn.cc:336] Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0.  CuDNN library needs to have matching major version and equal or higher minor version. If using a binary install, upgrade your CuDNN library.",
    ),
    (
        "cudnn-version-mismatch",
        "E cuda_dnn.cc:360] Loaded runtime CuDNN library: 7102 (compatibility version 7100) but source was compiled with 7004 (compatibility version 7000).",
    ),
    (
        "gpu-multiprocessor-count-too-low",
        "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1700] Ignoring visible gpu device (device: 0, name: GeForce MX150, pci bus id: 0000:01:00.0, compute capability: 6.1) with core count: 3. The minimum required count is 8.",
    ),
    (
        "gpu-too-new",
        """
        NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.
        The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.
        RuntimeError: CUDA error: no kernel image is available for execution on the device
        """,
    ),
    (
        "gpu-too-new",
        """
        W0000 00:00:1 1 gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0a. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        LLVM ERROR: PTX version 8.5 does not support target 'sm_120'. Minimum required PTX version is 8.7.
        Aborted (core dumped)
        """,
    ),
    (
        "gpu-too-new",
        """
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        W tensorflow/compiler/mlir/tools/kernel_gen/tf_gpu_runtime_wrappers.cc:40] 'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'
        W tensorflow/compiler/mlir/tools/kernel_gen/tf_gpu_runtime_wrappers.cc:40] 'cuLaunchKernel(function, gridX, gridY, gridZ, blockX)' failed with 'CUDA_ERROR_INVALID_HANDLE'
        tensorflow.python.framework.errors_impl.InternalError: 'cuLaunchKernel(function, gridX)' failed with 'CUDA_ERROR_INVALID_HANDLE' [Op:Cast]
        """,
    ),
    (
        "gpu-too-new",
        """
        ptxas fatal   : Value 'sm_121' is not defined for option 'gpu-name'
        RuntimeError: `ptxas` failed with error code 255
        """,
    ),
    (
        "gpu-too-new",
        """
        RuntimeError: CUDA error: no kernel image is available for execution on the device
        CUDA kernel errors might be asynchronously reported at some other API call
        """,
    ),
    (
        "gpu-too-new",
        """
        GeForce RTX 3090 with CUDA capability sm_86 is not compatible with the current PyTorch installation.
        The current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_60 sm_70.
        """,
    ),
    (
        "gpu-too-old",
        "2024-01-01 00:00:00.1: I tensorflow/core/common_runtime/gpu/gpu_device.cc:2255] Ignoring visible gpu device (device: 0, name: Tesla K80, pci bus id: 0000:00:1e.0, compute capability: 3.7) with Cuda compute capability 3.7. The minimum required Cuda capability is 6.0.",
    ),
    (
        "gpu-too-old",
        """
        /opt/torch/cuda/__init__.py:126: UserWarning:
        Found GPU0 Quadro K2200 which is of cuda capability 5.0.
        PyTorch no longer supports this GPU because it is too old.
        The minimum cuda capability supported by this library is 7.0.
        """,
    ),
    (
        "gpu-too-old",
        """
        name: GeForce GTX 760 major: 3 minor: 0 memoryClockRate(GHz): 1.15
        2019-01-01 00:00:00.1: F tensorflow/stream_executor/cuda/cuda_driver.cc:175] cudaErrorNoKernelImageForDevice : no kernel image is available for execution on the device
        """,
    ),
    (
        "gpu-too-old",
        """
        Tesla K40c with CUDA capability sm_35 is not compatible with the current PyTorch installation.
        The current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_60 sm_61 sm_70 sm_75 compute_37.
        """,
    ),
    (
        "gpu-too-old",
        "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1023] Ignoring gpu device (device: 0, name: GeForce GT 525M, pci bus id: 0000:01:00.0) with Cuda compute capability 2.1. The minimum required Cuda capability is 3.0.",
    ),
    (
        "gpu-too-old",
        "tensorflow.python.framework.errors_impl.InternalError: cudaGetDevice() failed. Status: no kernel image is available for execution on the device",
    ),
    (
        "gpu-too-old",
        "InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: device kernel image is invalid",
    ),
    (
        "gpus-not-listed",
        """
        | NVIDIA-SMI 560.35.03    Driver Version: 560.35.03    CUDA Version: 12.6 |
        Num GPUs Available:  0
        """,
    ),
    (
        "gpus-not-listed",
        """
        |   0  NVIDIA GeForce RTX 3060 ...  Off |
        | NVIDIA-SMI 525.85.12    Driver Version: 525.85.12    CUDA Version: 12.0     |
        >>> tf.config.list_physical_devices('GPU')
        []
        """,
    ),
    (
        "libdevice-missing",
        """
        W tensorflow/compiler/xla/service/gpu/nvptx_helper.cc:56] Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in compilation or runtime failures
        W tensorflow/core/framework/op_kernel.cc:1830] OP_REQUIRES failed at xla_ops.cc:418 : INTERNAL: libdevice not found at ./libdevice.10.bc
        Node: 'StatefulPartitionedCall_2'
        libdevice not found at ./libdevice.10.bc
        """,
    ),
    (
        "libdevice-missing",
        """
        InternalError: 2 root error(s) found.
        (0) INTERNAL: libdevice not found at ./libdevice.10.bc
        [[{{node StatefulPartitionedCall_8}}]]
        """,
    ),
    (
        "libdevice-missing",
        """
        error: Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice.
        error: libdevice not found at ./libdevice.10.bc
        UnknownError: JIT compilation failed. [Op:Sqrt]
        """,
    ),
    (
        "library-corrupt",
        "OSError: /home/u/.venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12: file too short",
    ),
    (
        "library-corrupt",
        """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcusolver.so.11'; dlerror: libcusolver.so.11: invalid ELF header
        W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
        Skipping registering GPU devices...
        """,
    ),
    (
        "library-corrupt",
        "ImportError: /opt/cuda/lib/libcudart.so.12: wrong ELF class: ELFCLASS32",
    ),
    (
        "library-corrupt",
        "OSError: [WinError 193] %1 is not a valid Win32 application",
    ),
    (
        "library-corrupt",
        "ImportError: /usr/lib/libcublasLt.so.12: cannot read file data: Is a directory",
    ),
    (
        "library-corrupt",
        """
        W dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: /usr/local/cuda/lib64/libcudnn.so.8: file too short; LD_LIBRARY_PATH: /usr/local/cuda/lib64
        Skipping registering GPU devices...
        """,
    ),
    (
        "library-path-conflict",
        "ImportError: /venv/lib/python3.11/site-packages/torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1, version libnvJitLink.so.12",
    ),
    (
        "library-path-conflict",
        "Could not load library libcudnn_cnn_train.so.8. Error: /usr/lib/x86_64-linux-gnu/libcudnn_cnn_train.so.8: undefined symbol: _ZN5cudnn3cnn34layerNormFwd_execute_internal_implERKNS_7backend11VariantPackE, version libcudnn_cnn_infer.so.8",
    ),
    (
        "library-path-conflict",
        "ImportError: /opt/v/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister",
    ),
    (
        "library-path-conflict",
        "AttributeError: /opt/conda/lib/libcudart.so.11.0: undefined symbol: cudaLaunchKernelExC",
    ),
    (
        "library-path-conflict",
        "ImportError: /opt/v/lib/python3.10/site-packages/torch/lib/../../nvidia/cudnn/lib/libcudnn_graph.so.9: undefined symbol: cudnnGetLibConfig, version libcudnn.so.9",
    ),
    (
        "ptxas-missing",
        """
        W external/local_xla/xla/stream_executor/gpu/asm_compiler.cc:231] Falling back to the CUDA driver for PTX compilation; couldn't find ptxas
        tensorflow.python.framework.errors_impl.UnimplementedError: ...
        """,
    ),
    (
        "ptxas-missing",
        """
        E0000 00:00:1 1 nvptx_compiler.cc:1] INTERNAL: No PTX compilation provider is available. Neither ptxas/nvlink nor nvtjlink is available. As a fallback you can enable JIT
        jaxlib.xla_extension.XlaRuntimeError: NOT_FOUND: Couldn't find a suitable version of ptxas.
        """,
    ),
    (
        "xla-flags-unknown",
        "F0000 00:00:1 77 parse_flags_from_env.cc:229] Unknown flag in XLA_FLAGS: --xla_gpu_enable_triton_softmax_fusion=true",
    ),
    (
        "xla-flags-unknown",
        """
        F external/local_xla/xla/parse_flags_from_env.cc:225] Unknown flags in XLA_FLAGS: --xla_gpu_enable_triton_gemm=false --xla_gpu_simplify=1
        Perhaps you meant to specify these on the TF_XLA_FLAGS envvar?
        """,
    ),
    (
        "cudnn-missing",
        """
        {"log":"2023-01-01 00:00:00.1: W tensorflow/compiler/xla/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/nvidia/lib\\n","stream":"stderr","time":"2023-01-01T00:00:00Z"}
        {"log":"Skipping registering GPU devices...\\n","stream":"stderr","time":"2023-01-01T00:00:00Z"}
        """,
    ),
    (
        "cuda-libraries-missing",
        "[pod/train-0/main] 2024-01-01 00:00:00.1: W gpu_device.cc:2251] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly",
    ),
    (
        "cuda-libraries-missing",
        "(RayTrainWorker pid=411, ip=10.0.0.1) ImportError: libcublas.so.11: cannot open shared object file: No such file or directory",
    ),
    (
        "cudnn-version-mismatch",
        """
        worker-1  | E0000 00:00:1 9 cuda_dnn.cc:466] Loaded runtime CuDNN library: 9.1.0 but source was
        worker-1  | compiled with: 9.3.0.  CuDNN library needs to have matching major version
        """,
    ),
    (
        "gpu-too-old",
        """
        > I tensorflow/core/common_runtime/gpu/gpu_device.cc:1700] Ignoring visible gpu device (device: 0, name: Quadro M1000M, pci bus id:
        > 0000:01:00.0, compute capability: 5.0) with Cuda compute capability 5.0. The minimum required Cuda capability is 6.0.
        """,
    ),
    (
        "library-corrupt",
        "docker: OSError: /usr/local/lib/python3.10/dist-packages/nvidia/cudnn/lib/libcudnn_adv.so.9: invalid ELF header",
    ),
    (
        "library-path-conflict",
        "/opt/python: symbol lookup error: /opt/v/nvidia/cudnn/lib/libcudnn_cnn.so.9: undefined symbol: _ZNK5cudnn7backend, version libcudnn_graph.so.9",
    ),
    (
        "library-path-conflict",
        "OSError: /opt/v/nvidia/cusolver/lib/libcusolver.so.11: undefined symbol: cublasSetEnvironmentMode, version libcublas.so.12",
    ),
    (
        "library-path-conflict",
        "ImportError: /opt/v/torch/lib/libc10_cuda.so: undefined symbol: cudaGetDriverEntryPointByVersion, version libcudart.so.12",
    ),
    (
        "ptxas-missing",
        "jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: Couldn't get ptxas/nvlink version string: INTERNAL: Couldn't invoke ptxas --version",
    ),
    (
        "ptxas-missing",
        """
        RuntimeError: Cannot find ptxas
        triton.runtime.errors: `ptxas` not found
        """,
    ),
    (
        "gpu-too-new",
        """
        triton.runtime.errors.PTXASError: PTXAS error: Internal Triton PTX codegen error
        ptxas fatal   : Value 'sm_103a' is not defined for option 'gpu-name'
        """,
    ),
    (
        "cuda-version-mismatch",
        """
        W dso_loader.cc:60] Could not load dynamic library 'libcudart.so.10.0'; dlerror: libcudart.so.10.0: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /usr/local/cuda-9.0/lib64
        ImportError: libcublas.so.10.0: cannot open shared object file: No such file or directory
        """,
    ),
    (
        "cuda-version-mismatch",
        """
        $ nvcc --version
        Cuda compilation tools, release 12.1, V12.1.105
        ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory
        """,
    ),
]  # fmt: skip

ONLY_WARNED = [
    (
        "cuda-libraries-missing",
        "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudart.so.10.1'; dlerror: libcudart.so.10.1: cannot open shared object file: No such file or directory",
    ),
    (
        "cudnn-version-mismatch",
        'torch 2.6.0 requires nvidia-cudnn-cu12==9.1.0.70; platform_system == "Linux", but you have nvidia-cudnn-cu12 9.3.0.75 which is incompatible.',
    ),
    (
        "gpu-too-old",
        """
        Ignoring visible gpu device (device: 1, name: Quadro K620, pci bus id: 0000:05:00.0, compute capability: 5.0) with Cuda compute capability 5.0. The minimum required Cuda capability is 6.0.
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    ),
    (
        "gpus-not-listed",
        "Num GPUs Available:  0",
    ),
    (
        "kernels-jit-compiled",
        """
        TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be jit-compiled from PTX
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    ),
    (
        "libdevice-missing",
        "Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in compilation or runtime failures, if the program we try to run uses routines from libdevice.",
    ),
    (
        "ptxas-missing",
        """
        W redzone_allocator.cc:322] INTERNAL: Failed to launch ptxas
        Relying on driver to perform ptx compilation.
        """,
    ),
    (
        "ptxas-missing",
        """
        W tensorflow/stream_executor/gpu/redzone_allocator.cc:314] Not found: ./bin/ptxas not found
        Relying on driver to perform ptx compilation. Modify $PATH to customize ptxas location.
        """,
    ),
    (
        "gpu-too-new",
        "nvcc fatal   : Unsupported gpu architecture 'compute_120'",
    ),
]  # fmt: skip

QUIET = [
    """
        I tensorflow/compiler/xla/stream_executor/cuda/cuda_dnn.cc:454] Loaded cuDNN version 8904
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        E0000 00:00:1 1 cuda_dnn.cc:8579] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file or directory
        W py_utils.cc:38] TF-TRT Warning: Could not find TensorRT
        I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0
        """,
    "W tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
    "INFO:jax._src.xla_bridge:Unable to initialize backend 'rocm': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'",
    """
        ptxas does not support CC 12.0
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        I0000 00:00:1 1 gpu_device.cc:1721] Ignoring visible gpu device (device: 1, name: GeForce GT 710, compute capability: 3.5) with core count: 1. The minimum required count is 8.
        Adding visible gpu devices: 0
        """,
]  # fmt: skip


@pytest.mark.parametrize(("code", "text"), NAMED)
def test_the_cause_is_named(code, text):
    assert_named(code, text)


@pytest.mark.parametrize(("code", "text"), ONLY_WARNED)
def test_what_may_be_meant_so_is_a_warning(code, text):
    assert [(item.code, item.severity) for item in told_by(text)] == [(code, Severity.WARNING)]


@pytest.mark.parametrize("text", QUIET)
def test_what_is_harmless_or_over_is_no_error(text):
    assert [item.code for item in told_by(text) if item.severity is Severity.ERROR] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("RuntimeError: The detected CUDA version (12.4) mismatches the version that was used to compile PyTorch (11.8)", "12.4"),
        ("Could not load dynamic library 'libcufft.so.10'\nSkipping registering GPU devices...", "libcufft.so.10"),
        ("Loaded runtime CuDNN library: 9.0.0 but source was compiled with: 9.3.0.", "9.0.0 is loaded"),
        (
            "Ignoring visible gpu device (device: 0, name: Quadro P400, compute capability: 6.1) with core count: 2.",
            "Quadro P400",
        ),
        ("libdevice not found at ./libdevice.10.bc", "libdevice.10.bc"),
        ("Unknown flags in XLA_FLAGS: --xla_gpu_frobnicate", "--xla_gpu_frobnicate"),
    ],
)
def test_values_are_the_logs_own(text, said):
    assert said in told_by(text)[0].summary


def test_the_command_names_the_cudnn_that_is_missed():
    (finding,) = told_by("ImportError: libcudnn.so.8: cannot open shared object file: No such file or directory")
    assert any('"nvidia-cudnn-cu12==8.*"' in (fix.command or "") for fix in finding.fix)


def test_a_dll_is_missed_whatever_line_follows():
    (found,) = told_by(
        "dso_loader.cc:64] Could not load dynamic library 'cudnn64_8.dll'; dlerror: cudnn64_8.dll not found\nSkipping registering GPU devices..."
    )
    assert found.code == "cudnn-missing"


def test_a_log_of_pytorch_gets_its_command_first():
    words = "no kernel image is available for execution on the device"
    (torch,) = told_by(f"torch.AcceleratorError: CUDA error: {words}")
    (other,) = told_by(
        f"NVIDIA GeForce RTX 5090, compute capability: 12.0\nptxas fatal   : Value 'sm_120' is not defined for option\n{words}"
    )
    assert "torch" in torch.fix[0].command
    assert "tensorflow" in other.fix[0].command
