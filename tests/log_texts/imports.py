"""TensorFlow is installed, and its import fails.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "tensorflow-import-failed": (
        """
        W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory
          File "/opt/p/tensorflow/__init__.py", line 37, in <module>
        TypeError: Descriptors cannot be created directly.
        """,
        "TypeError: Descriptors should not be created directly, but only retrieved from their parent.",
        """
        >>> import tensorflow
        Illegal instruction: 4
        """,
        "zsh: illegal hardware instruction  python3 train.py",
        """
        TypeError: Descriptors cannot be created directly.
        If this call came from a _pb2.py file, your generated code is out of date and must be regenerated with protoc >= 3.19.0.
        """,
        "ImportError: cannot import name 'runtime_version' from 'google.protobuf' (/opt/p/google/protobuf/__init__.py)",
        """
        A module that was compiled using NumPy 1.x cannot be run in
        NumPy 2.1.2 as it may crash. To support both 1.x and 2.x
        AttributeError: _ARRAY_API not found
        """,
        "ImportError: DLL load failed while importing _pywrap_tensorflow_internal: A dynamic link library (DLL) initialization routine failed.",
        """
        The TensorFlow library was compiled to use AVX instructions, but these aren't available on your machine.
        Aborted (core dumped)
        """,
        """
        $ python3 -c 'import tensorflow'
        Illegal instruction (core dumped)
        """,
        "ModuleNotFoundError: No module named 'tensorflow.python'",
        "tensorflow.python.framework.errors_impl.NotFoundError: /opt/p/tensorflow_text/python/ops/_sentencepiece_tokenizer.so: undefined symbol: _ZN4absl12lts_2022062320raw_logging_internal21internal_log_functionB5cxx11E",
        "ImportError: /opt/p/tensorflow/python/../libtensorflow_cc.so.2: cannot open shared object file: No such file or directory",
        "ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by /opt/p/tensorflow/python/_pywrap_tensorflow_internal.so)",
        """
        Traceback (most recent call last):
        File "/opt/p/tensorflow/python/pywrap_tensorflow.py", line 70, in <module>
        from tensorflow.python._pywrap_tensorflow_internal import *
        ImportError: /opt/p/tensorflow/python/_pywrap_tensorflow_internal.so: undefined symbol: _ZN10tensorflow8OpKernel11TraceStringERKNS_15OpKernelContextEb
        Failed to load the native TensorFlow runtime.
        """,
        """
        ImportError: numpy.core.multiarray failed to import
        ImportError: numpy.core.umath failed to import
        2021-01-01: F tensorflow/python/lib/core/bfloat16.cc:675] Check failed: PyBfloat16_Type.tp_base != nullptr
        """,
        "AttributeError: 'MessageFactory' object has no attribute 'GetPrototype'",
        """
        AttributeError: module 'numpy' has no attribute 'object'.
        `np.object` was a deprecated alias for the builtin `object`.
        """,
        "google.protobuf.runtime_version.VersionError: Detected incompatible Protobuf Gencode/Runtime versions when loading tensorflow/core/framework/attr_value.proto: gencode 5.28.3 runtime 4.25.3.",
        """
        TypeError: Unable to convert function return value to a Python type! The signature was
        () -> handle
        """,
        "AttributeError: partially initialized module 'tensorflow' has no attribute 'constant' (most likely due to a circular import)",
        """
        The TensorFlow library was compiled to use AVX instructions, but these aren't available on your machine.
        /bin/bash: line 1: 123 Aborted (core dumped) python train.py
        """,
        """
        File "C:\\Python39\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow.py", line 64
        ImportError: DLL load failed while importing _pywrap_tensorflow_internal: The specified module could not be found.

        Failed to load the native TensorFlow runtime.
        See https://www.tensorflow.org/install/errors for some common causes and solutions.
        """,
        "ImportError: cannot import name 'dtensor' from 'tensorflow.compat.v2.experimental' (/opt/p/tensorflow/_api/v2/compat/v2/experimental/__init__.py)",
        "ModuleNotFoundError: No module named 'tensorflow.tsl'",
        """
        File "/home/u/proj/tensorflow.py", line 1, in <module>
        from tensorflow.keras import layers
        ModuleNotFoundError: No module named 'tensorflow.keras'; 'tensorflow' is not a package
        """,
    ),
}

NO_ERROR = (
    "ImportError: cannot import name 'helper' from 'my_project.utils' (/home/me/my_project/utils.py)",
    """
        DEBUG:h5py._conv:Creating converter from 3 to 5
        DEBUG:tensorflow:Falling back to TensorFlow client; we recommended you install the Cloud TPU client directly
        """,
)
