"""Logs about installing and importing: packages, Pythons, platforms, and Keras with its backends and versions."""

import pytest
from one_rule import assert_named, told_by

from gpucheck.model import Severity

NAMED = [
    (
        "keras-version-conflict",
        "ModuleNotFoundError: No module named 'keras.utils.vis_utils'",
    ),
    (
        "tensorflow-import-failed",
        """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory
          File "/opt/p/tensorflow/__init__.py", line 37, in <module>
        TypeError: Descriptors cannot be created directly.
        """,
    ),
    (
        "tensorflow-import-failed",
        "TypeError: Descriptors should not be created directly, but only retrieved from their parent.",
    ),
    (
        "tensorflow-import-failed",
        """
        >>> import tensorflow
        Illegal instruction: 4
        """,
    ),
    (
        "tensorflow-import-failed",
        "zsh: illegal hardware instruction  python3 train.py",
    ),
    (
        "keras-backend-mismatch",
        """
        File "/opt/p/keras/src/backend/__init__.py", line 30, in <module>
        File "/opt/p/keras/src/backend/jax/__init__.py", line 1, in <module>
        ModuleNotFoundError: No module named 'jax'
        """,
    ),
    (
        "keras-backend-mismatch",
        "ValueError: Unable to import backend : mxnet",
    ),
    (
        "keras-backend-mismatch",
        """
        ModuleNotFoundError: No module named 'theano'
        Using Theano backend.
        """,
    ),
    (
        "keras-version-conflict",
        "ValueError: Your currently installed version of Keras is Keras 3, but this is not yet supported in Transformers. Please install the backwards-compatible tf-keras package with `pip install tf-keras`.",
    ),
    (
        "keras-version-conflict",
        "ModuleNotFoundError: No module named 'keras.engine'",
    ),
    (
        "keras-version-conflict",
        "ImportError: cannot import name 'Adam' from 'keras.optimizers' (/opt/p/keras/optimizers.py)",
    ),
    (
        "keras-version-conflict",
        "ImportError: Keras cannot be imported. Check that it is installed.",
    ),
    (
        "keras-version-conflict",
        "AttributeError: module 'keras.utils.generic_utils' has no attribute 'get_custom_objects'",
    ),
    (
        "keras-version-conflict",
        "ValueError: File format not supported: filepath=model_dir. Keras 3 only supports V3 `.keras` files and legacy H5 format files",
    ),
    (
        "keras-version-conflict",
        "ImportError: keras.optimizers.legacy is not supported in Keras 3. When using `tf.keras`, to continue using a `tf.keras.optimizers.legacy` optimizer, you can install the `tf_keras` package",
    ),
    (
        "keras-version-conflict",
        "AttributeError: module 'keras.backend' has no attribute 'get_session'",
    ),
    (
        "keras-version-conflict",
        "TypeError: Error when deserializing class 'InputLayer' using config={'batch_shape': [None, 28]}. Exception encountered: Unrecognized keyword arguments: ['batch_shape']",
    ),
    (
        "keras-version-conflict",
        "ValueError: Unrecognized keyword arguments passed to LSTM: {'time_major': False}",
    ),
    (
        "keras-version-conflict",
        "ImportError: `keras.optimizers.legacy` is not supported in Keras 3.",
    ),
    (
        "keras-version-conflict",
        "AttributeError: module 'tensorflow.compat.v2.__internal__' has no attribute 'register_clear_session_function'",
    ),
    (
        "keras-version-conflict",
        "ValueError: A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is a symbolic placeholder for a shape and dtype, used when constructing Keras Functional models",
    ),
    (
        "keras-version-conflict",
        """
        RuntimeError: Failed to import transformers.modeling_tf_utils because of the following error (look up to see its traceback):
        No module named 'keras.engine'
        """,
    ),
    (
        "keras-version-conflict",
        "ImportError: tf.keras has been moved... This version of TensorFlow Probability requires TensorFlow version >= 2.18; Detected an installation of version 2.15.1. You need to install the tf-keras package.",
    ),
    (
        "macos-no-cuda",
        """
        /Users/me/miniforge3/lib/python3.10/site-packages/torch/cuda/__init__.py
        AssertionError: Torch not compiled with CUDA enabled
        """,
    ),
    (
        "macos-no-cuda",
        """
        (base) me@MacBook-Pro ~ % pip install "tensorflow[and-cuda]"
        ERROR: Could not find a version that satisfies the requirement nvidia-nccl-cu12==2.21.5; extra == "and-cuda" (from tensorflow[and-cuda]) (from versions: 0.0.1.dev5)
        Using cached tensorflow-2.18.0-cp311-cp311-macosx_12_0_arm64.whl
        """,
    ),
    (
        "macos-no-cuda",
        """
        File "/Users/anna/opt/anaconda3/lib/python3.9/site-packages/torch/cuda/__init__.py", line 211, in _lazy_init
        raise AssertionError("Torch not compiled with CUDA enabled")
        AssertionError: Torch not compiled with CUDA enabled
        """,
    ),
    (
        "platform-unsupported",
        """
        hint: You're on Linux (`manylinux_2_35_aarch64`), but `tensorflow-io-gcs-filesystem` (v0.37.1) only has wheels for others
        Because tensorflow-text==2.15.0 has no wheels with a matching platform tag
        """,
    ),
    (
        "platform-unsupported",
        "ImportError: /lib64/libc.so.6: version `GLIBC_2.27' not found (required by /opt/p/tensorflow/python/_pywrap_tensorflow_internal.so)",
    ),
    (
        "platform-unsupported",
        "ImportError: Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /usr/lib/python3.11/site-packages/tensorflow/python/_pywrap.so)",
    ),
    (
        "platform-unsupported",
        """
        ERROR: tensorflow_io_gcs_filesystem...
        ImportError: /lib/aarch64-linux-gnu/libm.so.6: version `GLIBC_2.35' not found (required by /usr/local/lib/python3.9/dist-packages/tensorflow/libtensorflow_cc.so.2)
        """,
    ),
    (
        "platform-unsupported",
        """
        $ uname -m
        aarch64
        $ pip install nvidia-cudnn-cu12==8.9.4.25
        ERROR: Could not find a version that satisfies the requirement nvidia-cudnn-cu12==8.9.4.25 (from versions: 9.1.0.70)
        ERROR: No matching distribution found for nvidia-cudnn-cu12==8.9.4.25
        """,
    ),
    (
        "platform-unsupported",
        "/lib64/libstdc++.so.6: version `GLIBC_2.38' not found",
    ),
    (
        "python-unsupported",
        """
        ERROR: Could not find a version that satisfies the requirement tensorflow-gpu==1.15.0 (from versions: 2.2.0, 2.3.0, 2.11.0)
        ERROR: No matching distribution found for tensorflow-gpu==1.15.0
        """,
    ),
    (
        "python-unsupported",
        """
        ERROR: Ignored the following versions that require a different python version: 2.18.0 Requires-Python >=3.9; 2.19.0 Requires-Python >=3.9
        ERROR: Could not find a version that satisfies the requirement tensorflow==2.18.0 (from versions: 2.10.0, 2.13.1)
        """,
    ),
    (
        "python-unsupported",
        """
        × No solution found when resolving dependencies:
        ╰─▶ Because tensorflow==2.17.1 has no wheels with a matching Python ABI tag (e.g., `cp313`), we can conclude that tensorflow==2.17.1 cannot be used.
        """,
    ),
    (
        "python-unsupported",
        "ERROR: tensorflow-2.15.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl is not a supported wheel on this platform.",
    ),
    (
        "python-unsupported",
        "ERROR: Package 'tensorflow' requires a different Python: 3.14.0 not in '>=3.9,<3.14'",
    ),
    (
        "python-unsupported",
        """
        ERROR: Could not find a version that satisfies the requirement tensorflow>=2.0 (from -r requirements.txt (line 3)) (from versions: none)
        ERROR: No matching distribution found for tensorflow>=2.0 (from -r requirements.txt (line 3))
        """,
    ),
    (
        "python-unsupported",
        """
        ERROR: Could not find a version that satisfies the requirement tensorflow==1.14 (from versions: 2.2.0rc1, 2.2.0, 2.5.0)
        ERROR: No matching distribution found for tensorflow==1.14
        """,
    ),
    (
        "python-unsupported",
        """
        error: Distribution `tensorflow==2.20.0 @ registry+https://pypi.org/simple` can't be installed because it doesn't have a source distribution or wheel for the current platform
        hint: You're using CPython 3.14 (`cp314`), but `tensorflow` (v2.20.0) only has wheels with the following Python ABI tags: `cp39`, `cp310`
        """,
    ),
    (
        "python-unsupported",
        "Because no versions of tensorflow match >2.15 and the current Python version (3.13.0) does not satisfy Python>=3.9,<3.12, we can conclude that tensorflow cannot be used.",
    ),
    (
        "python-unsupported",
        """
        Could not solve for environment specs
        The following packages are incompatible
        └─ tensorflow 2.15**  is installable with the potential options
        └─ python 3.13.*  conflicts with any installable versions previously reported.
        """,
    ),
    (
        "rocm-gpu-unsupported",
        "E tensorflow/stream_executor/rocm/rocm_driver.cc:302] failed call to hipInit: HIP_ERROR_InvalidDevice",
    ),
    (
        "rocm-gpu-unsupported",
        """
        E tensorflow/compiler/xla/stream_executor/rocm/rocm_driver.cc:302] failed call to hipInit: HIP_ERROR_NoDevice
        I rocm_diagnostics.cc:112] retrieving ROCM diagnostic information for host: box
        """,
    ),
    (
        "rocm-gpu-unsupported",
        """
        0a:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Navi 21 [Radeon RX 6800/6800 XT / 6900 XT] (rev c1)
        bash: nvidia-smi: command not found
        Could not find cuda drivers on your machine, GPU will not be used.
        """,
    ),
    (
        "tensorflow-cpu-build",
        "AssertionError: Torch not compiled with CUDA enabled",
    ),
    (
        "tensorflow-cpu-build",
        """
        >>> print(tf.test.is_built_with_cuda())
        False
        >>> tf.config.list_physical_devices('GPU')
        []
        """,
    ),
    (
        "tensorflow-cpu-build",
        "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. AssertionError: Torch not compiled with CUDA enabled",
    ),
    (
        "tensorflow-cpu-build",
        "tf.test.is_built_with_cuda(): False",
    ),
    (
        "tensorflow-gpu-package-removed",
        """
        ERROR: Could not find a version that satisfies the requirement tensorflow-gpu==2.14.0 (from versions: 2.12.0)
        ERROR: No matching distribution found for tensorflow-gpu==2.14.0
        """,
    ),
    (
        "tensorflow-gpu-package-removed",
        """
        Collecting tensorflow-gpu
        error: subprocess-exited-with-error
        The "tensorflow-gpu" package has been removed!
        Please install "tensorflow" instead.
        """,
    ),
    (
        "tensorflow-gpu-package-removed",
        """
        Collecting tensorflow-gpu
        Downloading tensorflow-gpu-2.12.0.tar.gz (2.6 kB)
        Preparing metadata (setup.py) ... error
        error: subprocess-exited-with-error
        × python setup.py egg_info did not run successfully.
        │ exit code: 1
        ╰─> [39 lines of output]
        Traceback (most recent call last):
        File "/tmp/pip-install-x/tensorflow-gpu_6f/setup.py", line 37, in <module>
        raise Exception("TensorFlow GPU removed")
        =========================================================
        The "tensorflow-gpu" package has been removed!
        note: This error originates from a subprocess, and is likely not a problem with pip.
        error: metadata-generation-failed
        """,
    ),
    (
        "tensorflow-gpu-package-removed",
        "ERROR: No matching distribution found for tensorflow_gpu",
    ),
    (
        "tensorflow-import-failed",
        """
        TypeError: Descriptors cannot be created directly.
        If this call came from a _pb2.py file, your generated code is out of date and must be regenerated with protoc >= 3.19.0.
        """,
    ),
    (
        "tensorflow-import-failed",
        "ImportError: cannot import name 'runtime_version' from 'google.protobuf' (/opt/p/google/protobuf/__init__.py)",
    ),
    (
        "tensorflow-import-failed",
        """
        A module that was compiled using NumPy 1.x cannot be run in
        NumPy 2.1.2 as it may crash. To support both 1.x and 2.x
        AttributeError: _ARRAY_API not found
        """,
    ),
    (
        "tensorflow-import-failed",
        "ImportError: DLL load failed while importing _pywrap_tensorflow_internal: A dynamic link library (DLL) initialization routine failed.",
    ),
    (
        "tensorflow-import-failed",
        """
        The TensorFlow library was compiled to use AVX instructions, but these aren't available on your machine.
        Aborted (core dumped)
        """,
    ),
    (
        "tensorflow-import-failed",
        """
        $ python3 -c 'import tensorflow'
        Illegal instruction (core dumped)
        """,
    ),
    (
        "tensorflow-import-failed",
        "ModuleNotFoundError: No module named 'tensorflow.python'",
    ),
    (
        "tensorflow-import-failed",
        "tensorflow.python.framework.errors_impl.NotFoundError: /opt/p/tensorflow_text/python/ops/_sentencepiece_tokenizer.so: undefined symbol: _ZN4absl12lts_2022062320raw_logging_internal21internal_log_functionB5cxx11E",
    ),
    (
        "tensorflow-import-failed",
        "ImportError: /opt/p/tensorflow/python/../libtensorflow_cc.so.2: cannot open shared object file: No such file or directory",
    ),
    (
        "tensorflow-import-failed",
        "ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by /opt/p/tensorflow/python/_pywrap_tensorflow_internal.so)",
    ),
    (
        "tensorflow-import-failed",
        """
        Traceback (most recent call last):
        File "/opt/p/tensorflow/python/pywrap_tensorflow.py", line 70, in <module>
        from tensorflow.python._pywrap_tensorflow_internal import *
        ImportError: /opt/p/tensorflow/python/_pywrap_tensorflow_internal.so: undefined symbol: _ZN10tensorflow8OpKernel11TraceStringERKNS_15OpKernelContextEb
        Failed to load the native TensorFlow runtime.
        """,
    ),
    (
        "tensorflow-import-failed",
        """
        ImportError: numpy.core.multiarray failed to import
        ImportError: numpy.core.umath failed to import
        2021-01-01: F tensorflow/python/lib/core/bfloat16.cc:675] Check failed: PyBfloat16_Type.tp_base != nullptr
        """,
    ),
    (
        "tensorflow-import-failed",
        "AttributeError: 'MessageFactory' object has no attribute 'GetPrototype'",
    ),
    (
        "tensorflow-import-failed",
        """
        AttributeError: module 'numpy' has no attribute 'object'.
        `np.object` was a deprecated alias for the builtin `object`.
        """,
    ),
    (
        "tensorflow-import-failed",
        "google.protobuf.runtime_version.VersionError: Detected incompatible Protobuf Gencode/Runtime versions when loading tensorflow/core/framework/attr_value.proto: gencode 5.28.3 runtime 4.25.3.",
    ),
    (
        "tensorflow-import-failed",
        """
        TypeError: Unable to convert function return value to a Python type! The signature was
        () -> handle
        """,
    ),
    (
        "tensorflow-import-failed",
        "AttributeError: partially initialized module 'tensorflow' has no attribute 'constant' (most likely due to a circular import)",
    ),
    (
        "tensorflow-import-failed",
        """
        The TensorFlow library was compiled to use AVX instructions, but these aren't available on your machine.
        /bin/bash: line 1: 123 Aborted (core dumped) python train.py
        """,
    ),
    (
        "tensorflow-not-installed",
        """
        Traceback (most recent call last):
        File "<string>", line 1, in <module>
        ImportError: No module named tensorflow
        """,
    ),
    (
        "tensorflow-not-installed",
        """
        ModuleNotFoundError: No module named 'tensorflow'
        srun: error: node12: task 0: Exited with exit code 1
        """,
    ),
    (
        "tensorflow-not-installed",
        """
        Traceback (most recent call last):
        File "a.py", line 1
        import tensorflow as tf
        ImportError: No module named 'tensorflow'
        """,
    ),
    (
        "tensorflow-not-installed",
        "/usr/bin/python3: No module named tensorflow",
    ),
    (
        "windows-native-unsupported",
        """
        C:\\Users\\me> python -c "import tensorflow as tf; print('Num GPUs Available: ', len(tf.config.list_physical_devices('GPU')))"
        Num GPUs Available:  0
        """,
    ),
    (
        "windows-native-unsupported",
        """
        PS C:\\proj> pip install tensorflow[and-cuda]
        ERROR: Could not find a version that satisfies the requirement nvidia-nccl-cu12==2.21.5; extra == "and-cuda" (from tensorflow[and-cuda]) (from versions: 0.0.1.dev5)
        """,
    ),
    (
        "windows-native-unsupported",
        "W0000 TensorFlow GPU support is not available on native Windows for TensorFlow >= 2.11. Even if CUDA/cuDNN are installed",
    ),
    (
        "windows-native-unsupported",
        """
        >>> print(tf.config.list_physical_devices('GPU'))
        []
        C:\\Users\\x\\AppData\\Local\\Programs\\Python\\Python311\\python.exe tf 2.16.1 Num GPUs Available: 0
        """,
    ),
    (
        "wrong-environment",
        """
        Requirement already satisfied: tensorflow in ./venv/lib/python3.10/site-packages (2.15.0)
        $ sudo python3 train.py
        ModuleNotFoundError: No module named 'tensorflow'
        """,
    ),
    (
        "wrong-environment",
        """
        Successfully installed gast-0.6.0 tensorflow-2.19.0
        In [1]: import tensorflow as tf
        ModuleNotFoundError: No module named 'tensorflow'
        """,
    ),
    (
        "wrong-environment",
        """
        $ pip show tensorflow
        Name: tensorflow
        Version: 2.16.1
        Location: /home/u/.local/lib/python3.10/site-packages
        $ python3.11 a.py
        ModuleNotFoundError: No module named 'tensorflow'
        """,
    ),
    (
        "wrong-environment",
        """
        Defaulting to user installation because normal site-packages is not writeable
        Requirement already satisfied: tensorflow in /home/u/.local/lib/python3.8/site-packages (2.13.1)
        Jupyter: ModuleNotFoundError: No module named 'tensorflow'
        """,
    ),
    (
        "tensorflow-import-failed",
        """
        File "C:\\Python39\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow.py", line 64
        ImportError: DLL load failed while importing _pywrap_tensorflow_internal: The specified module could not be found.

        Failed to load the native TensorFlow runtime.
        See https://www.tensorflow.org/install/errors for some common causes and solutions.
        """,
    ),
    (
        "tensorflow-import-failed",
        "ImportError: cannot import name 'dtensor' from 'tensorflow.compat.v2.experimental' (/opt/p/tensorflow/_api/v2/compat/v2/experimental/__init__.py)",
    ),
    (
        "tensorflow-import-failed",
        "ModuleNotFoundError: No module named 'tensorflow.tsl'",
    ),
    (
        "keras-version-conflict",
        "ModuleNotFoundError: No module named 'tensorflow.keras'",
    ),
    (
        "keras-version-conflict",
        "ImportError: cannot import name 'to_categorical' from 'keras.utils' (/opt/p/keras/utils/__init__.py)",
    ),
    (
        "keras-version-conflict",
        "ImportError: cannot import name '_legacy_layers' from 'keras.src'",
    ),
    (
        "keras-version-conflict",
        "AttributeError: module 'keras.src.backend' has no attribute 'convert_to_numpy'",
    ),
    (
        "keras-version-conflict",
        "TypeError: Could not locate class 'Functional'. Make sure custom classes are decorated with `@keras.saving.register_keras_serializable()`.",
    ),
    (
        "keras-version-conflict",
        "ModuleNotFoundError: No module named 'tf_keras'",
    ),
    (
        "platform-unsupported",
        """
        ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)
        Linux raspberrypi 6.1.21-v7+ armv7l GNU/Linux
        """,
    ),
    (
        "python-unsupported",
        """
        ERROR: Ignored the following versions that require a different python version: 0.36.0 Requires-Python >=3.6,<3.12
        ERROR: Could not find a version that satisfies the requirement tensorflow<2.11 (from versions: 2.16.1, 2.20.0)
        """,
    ),
]  # fmt: skip

ONLY_WARNED = [
    (
        "keras-backend-mismatch",
        "Using Theano backend.",
    ),
    (
        "keras-backend-mismatch",
        """
        $ KERAS_BACKEND=jax python mnist.py
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    ),
    (
        "keras-version-conflict",
        "tensorflow 2.15.0 requires keras<2.16,>=2.15.0, but you have keras 3.0.5 which is incompatible.",
    ),
    (
        "tensorflow-cpu-build",
        "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.",
    ),
    (
        "windows-native-unsupported",
        """
        WARNING:tensorflow:TensorFlow GPU support is not available on native Windows for TensorFlow >= 2.11.
        Epoch 1/3
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    ),
]  # fmt: skip

QUIET = [
    "tensorflow-rocm                      2.14.0\nrocm_smi: /dev/kfd is there",
    "/Users/me/train.py\nNum GPUs Available:  0\n9/9 [==============================] - 1s 20ms/step - loss: 0.5",
    "Successfully installed keras-3.12.0 nvidia-cudnn-cu12-9.3.0.75 tensorflow-2.20.0",
    """
        WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('Failed to establish a new connection')': /simple/tensorflow/
        ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)
        """,
    "ERROR: Could not find a version that satisfies the requirement leftpad==9 (from versions: none)",
    "ImportError: cannot import name 'helper' from 'my_project.utils' (/home/me/my_project/utils.py)",
    """
        Metal device set to: Apple M2 Max
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    "Using TensorFlow backend.",
    "WARNING: pip's dependency resolver does not currently take into account all the packages that are installed.",
    """
        DEBUG:h5py._conv:Creating converter from 3 to 5
        DEBUG:tensorflow:Falling back to TensorFlow client; we recommended you install the Cloud TPU client directly
        """,
    """
        conda activate tf
        (tf) me@box:~$ pip install tensorflow
        Collecting tensorflow
        Successfully installed tensorflow-2.16.1
        """,
    "tests/test_import.py::test_missing PASSED - expects ModuleNotFoundError when tensorflow is not there",
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


def test_what_was_asked_for_is_named_and_the_python_that_has_it():
    (finding,) = told_by(
        "ERROR: Could not find a version that satisfies the requirement tensorflow==2.12.0 (from versions: 2.20.0)"
    )
    assert "tensorflow==2.12.0" in finding.summary
    assert any("uv venv --python 3.11" in (fix.command or "") for fix in finding.fix)
