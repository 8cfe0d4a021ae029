"""Logs about TensorFlow, Keras, their CUDA libraries and how they were installed, as several versions and frameworks put it."""

import pytest
from one_rule import told_by

from gpucheck.model import Severity

LOADER = "W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library"
ABSENT = "cannot open shared object file: No such file or directory"
GIVEN_UP = (
    "W tensorflow/core/common_runtime/gpu/gpu_device.cc:1960] Cannot dlopen some GPU libraries. Please make sure the missing"
    " libraries mentioned above are installed properly if you would like to use GPU.\nSkipping registering GPU devices..."
)
CREATED = (
    "I0000 00:00:1 1 gpu_device.cc:2020] Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  ->"
    " device: 0, name: NVIDIA GeForce RTX 5070, pci bus id: 0000:01:00.0, compute capability: 12.0"
)
KERAS_BAR = "117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511"

NAMED = [
    # -- CUDA's libraries --
    (
        "cuda-libraries-missing",
        f"""
        2023-01-05 10:00:00.1: {LOADER} 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: {ABSENT}
        2023-01-05 10:00:00.2: {LOADER} 'libcublas.so.11'; dlerror: libcublas.so.11: {ABSENT}; LD_LIBRARY_PATH: /opt/lib
        2023-01-05 10:00:00.3: {LOADER} 'libcudnn.so.8'; dlerror: libcudnn.so.8: {ABSENT}; LD_LIBRARY_PATH: /opt/lib
        2023-01-05 10:00:00.4: {GIVEN_UP}
        """,
    ),
    ("cuda-libraries-missing", f"[1,0]<stderr>:2024-03-03 01:02:03.4: {GIVEN_UP}"),
    ("cuda-libraries-missing", f"ImportError: libcudart.so.12: {ABSENT}"),
    ("cuda-libraries-missing", f"OSError: libcurand.so.10: {ABSENT}"),
    ("cuda-libraries-missing", f"ImportError: libcusparseLt.so.0: {ABSENT}"),
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
        "E0000 00:00:1760000000.1 12 cuda_executor.cc:1737] INTERNAL: CUDA Runtime error: Failed call to cudaGetRuntimeVersion: Error loading CUDA libraries. GPU will not be used.\n"
        + GIVEN_UP,
    ),
    ("cuda-libraries-missing", f"Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: {ABSENT}\nAborted (core dumped)"),
    (
        "cuda-libraries-unreachable",
        f"""
        Successfully installed keras-3.12.0 nvidia-cublas-cu12-12.5.3.2 nvidia-cudnn-cu12-9.3.0.75 tensorflow-2.21.0
        $ python train.py
        {GIVEN_UP}
        """,
    ),
    (
        "cuda-libraries-unreachable",
        f"""
        I0000 00:00:1.1 9 dso_loader.cc:133] Successfully opened dynamic library libcudart.so.12
        I0000 00:00:1.2 9 dso_loader.cc:133] Successfully opened dynamic library libcublas.so.12
        I0000 00:00:1.3 9 dso_loader.cc:144] Could not load dynamic library 'libcusolver.so.11'; dlerror: libcusolver.so.11: {ABSENT}
        W0000 00:00:1.4 9 gpu_device.cc:2365] Cannot dlopen some GPU libraries.
        """,
    ),
    ("cudnn-missing", f"{LOADER} 'libcudnn.so.8'; dlerror: libcudnn.so.8: {ABSENT}\n{GIVEN_UP}"),
    ("cudnn-missing", "Could not locate cudnn_ops_infer64_8.dll. Please make sure it is in your library path!\nProcess finished with exit code -1073740791"),
    ("cudnn-missing", f"Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: {ABSENT}\nAborted (core dumped)"),
    (
        "cudnn-missing",
        """
        Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9, libcudnn_ops.so}
        Invalid handle. Cannot load symbol cudnnCreateTensorDescriptor
        Aborted (core dumped)
        """,
    ),
    ("cudnn-missing", f"[rank0]: ImportError: libcudnn.so.9: {ABSENT}"),
    (
        "cudnn-version-mismatch",
        """
        2021-02-02 02:02:02.2: E tensorflow/stream_executor/cuda/cuda_dnn.cc:319] Loaded runtime CuDNN library: 7.1.4 but source was compiled with: 7.6.4.  CuDNN library major and minor version needs to match or have higher minor version.
        tensorflow.python.framework.errors_impl.UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize
        """,
    ),
    ("cudnn-version-mismatch", "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime version (8, 9, 2)."),
    ("cudnn-version-mismatch", "RuntimeError: cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"),
    (
        "cudnn-version-mismatch",
        "RuntimeError: Unable to load cuDNN. Is it installed?\nFound cuDNN version 8600, but JAX was built against version 8904, which is newer.",
    ),
    (
        "cuda-version-mismatch",
        f"""
        I tensorflow/stream_executor/platform/default/dso_loader.cc:44] Successfully opened dynamic library libcudart.so.10.1
        {LOADER} 'libcublas.so.11'; dlerror: libcublas.so.11: {ABSENT}; LD_LIBRARY_PATH: /usr/local/cuda-10.1/lib64
        {GIVEN_UP}
        """,
    ),
    (
        "cuda-version-mismatch",
        f"""
        {LOADER} 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: {ABSENT}; LD_LIBRARY_PATH: /usr/local/cuda-12.2/lib64
        {LOADER} 'libcusparse.so.11'; dlerror: libcusparse.so.11: {ABSENT}; LD_LIBRARY_PATH: /usr/local/cuda-12.2/lib64
        {GIVEN_UP}
        """,
    ),
    ("cuda-version-mismatch", "RuntimeError: The detected CUDA version (12.4) mismatches the version that was used to compile PyTorch (11.8). Please make sure to use the same CUDA versions."),
    ("cuda-version-mismatch", "RuntimeError: Found cuSPARSE version 12000, but JAX was built against version 12103, which is newer."),
    (
        "library-path-conflict",
        "ImportError: /venv/lib/python3.11/site-packages/torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1, version libnvJitLink.so.12",
    ),
    (
        "library-path-conflict",
        "Could not load library libcudnn_cnn_train.so.8. Error: /usr/lib/x86_64-linux-gnu/libcudnn_cnn_train.so.8: undefined symbol: _ZN5cudnn3cnn34layerNormFwd_execute_internal_implERKNS_7backend11VariantPackE, version libcudnn_cnn_infer.so.8",
    ),
    ("library-path-conflict", "ImportError: /opt/v/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister"),
    ("library-corrupt", "OSError: /home/u/.venv/lib/python3.12/site-packages/nvidia/cublas/lib/libcublas.so.12: file too short"),
    ("library-corrupt", f"{LOADER} 'libcusolver.so.11'; dlerror: libcusolver.so.11: invalid ELF header\n{GIVEN_UP}"),
    ("library-corrupt", "ImportError: /opt/cuda/lib/libcudart.so.12: wrong ELF class: ELFCLASS32"),
    # -- XLA's tools --
    (
        "ptxas-missing",
        """
        W external/local_xla/xla/stream_executor/gpu/asm_compiler.cc:231] Falling back to the CUDA driver for PTX compilation; ptxas does not support CC 8.9
        """.replace("ptxas does not support CC 8.9", "couldn't find ptxas")
        + "tensorflow.python.framework.errors_impl.UnimplementedError: ...",
    ),
    ("ptxas-missing", "E0000 00:00:1 1 nvptx_compiler.cc:1] INTERNAL: No PTX compilation provider is available. Neither ptxas/nvlink nor nvtjlink is available. As a fallback you can enable JIT\njaxlib.xla_extension.XlaRuntimeError: NOT_FOUND: Couldn't find a suitable version of ptxas."),
    (
        "libdevice-missing",
        """
        W tensorflow/compiler/xla/service/gpu/nvptx_helper.cc:56] Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in compilation or runtime failures
        W tensorflow/core/framework/op_kernel.cc:1830] OP_REQUIRES failed at xla_ops.cc:418 : INTERNAL: libdevice not found at ./libdevice.10.bc
        Node: 'StatefulPartitionedCall_2'
        libdevice not found at ./libdevice.10.bc
        """,
    ),
    ("xla-flags-unknown", "F0000 00:00:1 77 parse_flags_from_env.cc:229] Unknown flag in XLA_FLAGS: --xla_gpu_enable_triton_softmax_fusion=true"),
    # -- the GPU's generation --
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
        "gpu-too-new",
        """
        NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.
        The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.
        RuntimeError: CUDA error: no kernel image is available for execution on the device
        """,
    ),
    (
        "gpu-too-new",
        f"""
        W0000 00:00:1 1 gpu_device.cc:2431] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0a. CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.
        {CREATED}
        LLVM ERROR: PTX version 8.5 does not support target 'sm_120'. Minimum required PTX version is 8.7.
        Aborted (core dumped)
        """,
    ),
    (
        "gpu-too-new",
        f"""
        {CREATED}
        W tensorflow/compiler/mlir/tools/kernel_gen/tf_gpu_runtime_wrappers.cc:40] 'cuModuleLoadData(&module, data)' failed with 'CUDA_ERROR_INVALID_PTX'
        W tensorflow/compiler/mlir/tools/kernel_gen/tf_gpu_runtime_wrappers.cc:40] 'cuLaunchKernel(function, gridX, gridY, gridZ, blockX)' failed with 'CUDA_ERROR_INVALID_HANDLE'
        tensorflow.python.framework.errors_impl.InternalError: 'cuLaunchKernel(function, gridX)' failed with 'CUDA_ERROR_INVALID_HANDLE' [Op:Cast]
        """,
    ),
    ("gpu-too-new", "ptxas fatal   : Value 'sm_121' is not defined for option 'gpu-name'\nRuntimeError: `ptxas` failed with error code 255"),
    (
        "gpu-multiprocessor-count-too-low",
        "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1700] Ignoring visible gpu device (device: 0, name: GeForce MX150, pci bus id: 0000:01:00.0, compute capability: 6.1) with core count: 3. The minimum required count is 8.",
    ),
    # -- packages --
    ("tensorflow-not-installed", "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\nImportError: No module named tensorflow"),
    ("tensorflow-not-installed", "ModuleNotFoundError: No module named 'tensorflow'\nsrun: error: node12: task 0: Exited with exit code 1"),
    ("wrong-environment", "Requirement already satisfied: tensorflow in ./venv/lib/python3.10/site-packages (2.15.0)\n$ sudo python3 train.py\nModuleNotFoundError: No module named 'tensorflow'"),
    ("wrong-environment", "Successfully installed gast-0.6.0 tensorflow-2.19.0\nIn [1]: import tensorflow as tf\nModuleNotFoundError: No module named 'tensorflow'"),
    ("tensorflow-import-failed", "TypeError: Descriptors cannot be created directly.\nIf this call came from a _pb2.py file, your generated code is out of date and must be regenerated with protoc >= 3.19.0."),
    ("tensorflow-import-failed", "ImportError: cannot import name 'runtime_version' from 'google.protobuf' (/opt/p/google/protobuf/__init__.py)"),
    ("tensorflow-import-failed", "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.1.2 as it may crash. To support both 1.x and 2.x\nAttributeError: _ARRAY_API not found"),
    ("tensorflow-import-failed", "ImportError: DLL load failed while importing _pywrap_tensorflow_internal: A dynamic link library (DLL) initialization routine failed."),
    ("tensorflow-import-failed", "The TensorFlow library was compiled to use AVX instructions, but these aren't available on your machine.\nAborted (core dumped)"),
    ("tensorflow-import-failed", "$ python3 -c 'import tensorflow'\nIllegal instruction (core dumped)"),
    ("tensorflow-import-failed", "ModuleNotFoundError: No module named 'tensorflow.python'"),
    ("tensorflow-import-failed", "tensorflow.python.framework.errors_impl.NotFoundError: /opt/p/tensorflow_text/python/ops/_sentencepiece_tokenizer.so: undefined symbol: _ZN4absl12lts_2022062320raw_logging_internal21internal_log_functionB5cxx11E"),
    ("tensorflow-import-failed", "ImportError: /opt/p/tensorflow/python/../libtensorflow_cc.so.2: cannot open shared object file: No such file or directory"),
    ("tensorflow-cpu-build", "AssertionError: Torch not compiled with CUDA enabled"),
    ("tensorflow-cpu-build", ">>> print(tf.test.is_built_with_cuda())\nFalse\n>>> tf.config.list_physical_devices('GPU')\n[]"),
    ("tensorflow-gpu-package-removed", "ERROR: Could not find a version that satisfies the requirement tensorflow-gpu==2.14.0 (from versions: 2.12.0)\nERROR: No matching distribution found for tensorflow-gpu==2.14.0"),
    (
        "tensorflow-gpu-package-removed",
        """
        Collecting tensorflow-gpu
          error: subprocess-exited-with-error
              The "tensorflow-gpu" package has been removed!
              Please install "tensorflow" instead.
        """,
    ),
    ("python-unsupported", "ERROR: Could not find a version that satisfies the requirement tensorflow-gpu==1.15.0 (from versions: 2.2.0, 2.3.0, 2.11.0)\nERROR: No matching distribution found for tensorflow-gpu==1.15.0"),
    ("python-unsupported", "ERROR: Ignored the following versions that require a different python version: 2.18.0 Requires-Python >=3.9; 2.19.0 Requires-Python >=3.9\nERROR: Could not find a version that satisfies the requirement tensorflow==2.18.0 (from versions: 2.10.0, 2.13.1)"),
    ("python-unsupported", "  × No solution found when resolving dependencies:\n  ╰─▶ Because tensorflow==2.17.1 has no wheels with a matching Python ABI tag (e.g., `cp313`), we can conclude that tensorflow==2.17.1 cannot be used."),
    ("python-unsupported", "ERROR: tensorflow-2.15.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl is not a supported wheel on this platform."),
    ("python-unsupported", "ERROR: Package 'tensorflow' requires a different Python: 3.14.0 not in '>=3.9'".replace(">=3.9", ">=3.9,<3.14")),
    ("platform-unsupported", "hint: You're on Linux (`manylinux_2_35_aarch64`), but `tensorflow-io-gcs-filesystem` (v0.37.1) only has wheels for others\nBecause tensorflow-text==2.15.0 has no wheels with a matching platform tag"),
    ("platform-unsupported", "ImportError: /lib64/libc.so.6: version `GLIBC_2.27' not found (required by /opt/p/tensorflow/python/_pywrap_tensorflow_internal.so)"),
    ("platform-unsupported", "ImportError: Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /usr/lib/python3.11/site-packages/tensorflow/python/_pywrap.so)"),
    ("windows-native-unsupported", "C:\\Users\\me> python -c \"import tensorflow as tf; print('Num GPUs Available: ', len(tf.config.list_physical_devices('GPU')))\"\nNum GPUs Available:  0"),
    ("windows-native-unsupported", "PS C:\\proj> pip install tensorflow[and-cuda]\nERROR: Could not find a version that satisfies the requirement nvidia-nccl-cu12==2.21.5; extra == \"and-cuda\" (from tensorflow[and-cuda]) (from versions: 0.0.1.dev5)"),
    ("macos-no-cuda", "/Users/me/miniforge3/lib/python3.10/site-packages/torch/cuda/__init__.py\nAssertionError: Torch not compiled with CUDA enabled"),
    ("rocm-gpu-unsupported", "E tensorflow/stream_executor/rocm/rocm_driver.cc:302] failed call to hipInit: HIP_ERROR_InvalidDevice"),
    # -- Keras --
    ("keras-version-conflict", "ValueError: Your currently installed version of Keras is Keras 3, but this is not yet supported in Transformers. Please install the backwards-compatible tf-keras package with `pip install tf-keras`."),
    ("keras-version-conflict", "ModuleNotFoundError: No module named 'keras.engine'"),
    ("keras-version-conflict", "ImportError: cannot import name 'Adam' from 'keras.optimizers' (/opt/p/keras/optimizers.py)"),
    ("keras-version-conflict", "ImportError: Keras cannot be imported. Check that it is installed."),
    ("keras-version-conflict", "AttributeError: module 'keras.utils.generic_utils' has no attribute 'get_custom_objects'"),
    ("keras-version-conflict", "ValueError: File format not supported: filepath=model_dir. Keras 3 only supports V3 `.keras` files and legacy H5 format files"),
    ("keras-version-conflict", "ImportError: keras.optimizers.legacy is not supported in Keras 3. When using `tf.keras`, to continue using a `tf.keras.optimizers.legacy` optimizer, you can install the `tf_keras` package"),
    ("keras-backend-mismatch", "File \"/opt/p/keras/src/backend/__init__.py\", line 30, in <module>\nFile \"/opt/p/keras/src/backend/jax/__init__.py\", line 1, in <module>\nModuleNotFoundError: No module named 'jax'"),
    ("keras-backend-mismatch", "ValueError: Unable to import backend : mxnet"),
    # -- no reason given --
    ("gpus-not-listed", "| NVIDIA-SMI 560.35.03    Driver Version: 560.35.03    CUDA Version: 12.6 |\nNum GPUs Available:  0"),
]  # fmt: skip

ONLY_WARNED = [
    ("windows-native-unsupported", f"WARNING:tensorflow:TensorFlow GPU support is not available on native Windows for TensorFlow >= 2.11.\nEpoch 1/3\n{KERAS_BAR}"),
    ("kernels-jit-compiled", f"TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be jit-compiled from PTX\n{CREATED}\n{KERAS_BAR}"),
    ("keras-backend-mismatch", "Using Theano backend."),
    ("keras-backend-mismatch", f"$ KERAS_BACKEND=jax python mnist.py\n{KERAS_BAR}"),
    ("ptxas-missing", "W redzone_allocator.cc:322] INTERNAL: Failed to launch ptxas\nRelying on driver to perform ptx compilation. "),
    ("libdevice-missing", "Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in compilation or runtime failures, if the program we try to run uses routines from libdevice."),
    ("cuda-libraries-missing", f"{LOADER} 'libcudart.so.10.1'; dlerror: libcudart.so.10.1: {ABSENT}"),
    ("keras-version-conflict", "tensorflow 2.15.0 requires keras<2.16,>=2.15.0, but you have keras 3.0.5 which is incompatible."),
    ("cudnn-version-mismatch", "torch 2.6.0 requires nvidia-cudnn-cu12==9.1.0.70; platform_system == \"Linux\", but you have nvidia-cudnn-cu12 9.3.0.75 which is incompatible."),
    ("gpus-not-listed", "Num GPUs Available:  0"),
    (
        "gpu-too-old",
        f"Ignoring visible gpu device (device: 1, name: Quadro K620, pci bus id: 0000:05:00.0, compute capability: 5.0) with Cuda compute capability 5.0. The minimum required Cuda capability is 6.0.\n{CREATED}\n{KERAS_BAR}",
    ),
]  # fmt: skip

QUIET = [
    f"I tensorflow/compiler/xla/stream_executor/cuda/cuda_dnn.cc:454] Loaded cuDNN version 8904\n{KERAS_BAR}",
    f"E0000 00:00:1 1 cuda_dnn.cc:8579] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered\n{CREATED}\n{KERAS_BAR}",
    f"{LOADER} 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: {ABSENT}\nW py_utils.cc:38] TF-TRT Warning: Could not find TensorRT\n{CREATED}",
    "W tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
    "Successfully installed keras-3.12.0 nvidia-cudnn-cu12-9.3.0.75 tensorflow-2.20.0",
    "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('Failed to establish a new connection')': /simple/tensorflow/\nERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)",
    "ERROR: Could not find a version that satisfies the requirement leftpad==9 (from versions: none)",
    "ImportError: cannot import name 'helper' from 'my_project.utils' (/home/me/my_project/utils.py)",
    f"Metal device set to: Apple M2 Max\n{KERAS_BAR}",
    "Using TensorFlow backend.",
    "INFO:jax._src.xla_bridge:Unable to initialize backend 'rocm': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'",
    f"ptxas does not support CC 12.0\n{KERAS_BAR}",
    "I0000 00:00:1 1 gpu_device.cc:1721] Ignoring visible gpu device (device: 1, name: GeForce GT 710, compute capability: 3.5) with core count: 1. The minimum required count is 8.\nAdding visible gpu devices: 0",
]  # fmt: skip


@pytest.mark.parametrize(("code", "text"), NAMED)
def test_the_cause_is_named(code, text):
    first, *others = told_by(text)
    assert (first.code, first.severity) == (code, Severity.ERROR)
    assert [item.code for item in others if item.severity is Severity.ERROR] == []
    assert first.evidence
    assert first.fix


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
        (f"{LOADER} 'libcufft.so.10'; dlerror: libcufft.so.10: {ABSENT}\n{GIVEN_UP}", "libcufft.so.10"),
        ("Loaded runtime CuDNN library: 9.0.0 but source was compiled with: 9.3.0.", "9.0.0 is loaded"),
        ("ERROR: No matching distribution found for tensorflow==2.4.1", "tensorflow==2.4.1"),
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


def test_commands_name_what_was_asked_for():
    (old,) = told_by("ERROR: Could not find a version that satisfies the requirement tensorflow==2.12.0 (from versions: 2.20.0)")
    assert any("uv venv --python 3.11" in (fix.command or "") for fix in old.fix)
    (cudnn,) = told_by(f"ImportError: libcudnn.so.8: {ABSENT}")
    assert any('"nvidia-cudnn-cu12==8.*"' in (fix.command or "") for fix in cudnn.fix)
