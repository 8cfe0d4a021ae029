"""Platforms without a package, and builds without code for the GPU: architectures, C libraries, macOS, Windows, ROCm, CPU.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "platform-unsupported": (
        """
        hint: You're on Linux (`manylinux_2_35_aarch64`), but `tensorflow-io-gcs-filesystem` (v0.37.1) only has wheels for others
        Because tensorflow-text==2.15.0 has no wheels with a matching platform tag
        """,
        "ImportError: /lib64/libc.so.6: version `GLIBC_2.27' not found (required by /opt/p/tensorflow/python/_pywrap_tensorflow_internal.so)",
        "ImportError: Error loading shared library ld-linux-x86-64.so.2: No such file or directory (needed by /usr/lib/python3.11/site-packages/tensorflow/python/_pywrap.so)",
        """
        ERROR: tensorflow_io_gcs_filesystem...
        ImportError: /lib/aarch64-linux-gnu/libm.so.6: version `GLIBC_2.35' not found (required by /usr/local/lib/python3.9/dist-packages/tensorflow/libtensorflow_cc.so.2)
        """,
        """
        $ uname -m
        aarch64
        $ pip install nvidia-cudnn-cu12==8.9.4.25
        ERROR: Could not find a version that satisfies the requirement nvidia-cudnn-cu12==8.9.4.25 (from versions: 9.1.0.70)
        ERROR: No matching distribution found for nvidia-cudnn-cu12==8.9.4.25
        """,
        "/lib64/libstdc++.so.6: version `GLIBC_2.38' not found",
        """
        ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)
        Linux raspberrypi 6.1.21-v7+ armv7l GNU/Linux
        """,
    ),
    "macos-no-cuda": (
        """
        /Users/me/miniforge3/lib/python3.10/site-packages/torch/cuda/__init__.py
        AssertionError: Torch not compiled with CUDA enabled
        """,
        """
        (base) me@MacBook-Pro ~ % pip install "tensorflow[and-cuda]"
        ERROR: Could not find a version that satisfies the requirement nvidia-nccl-cu12==2.21.5; extra == "and-cuda" (from tensorflow[and-cuda]) (from versions: 0.0.1.dev5)
        Using cached tensorflow-2.18.0-cp311-cp311-macosx_12_0_arm64.whl
        """,
        """
        File "/Users/anna/opt/anaconda3/lib/python3.9/site-packages/torch/cuda/__init__.py", line 211, in _lazy_init
        raise AssertionError("Torch not compiled with CUDA enabled")
        AssertionError: Torch not compiled with CUDA enabled
        """,
    ),
    "windows-native-unsupported": (
        """
        C:\\Users\\me> python -c "import tensorflow as tf; print('Num GPUs Available: ', len(tf.config.list_physical_devices('GPU')))"
        Num GPUs Available:  0
        """,
        """
        PS C:\\proj> pip install tensorflow[and-cuda]
        ERROR: Could not find a version that satisfies the requirement nvidia-nccl-cu12==2.21.5; extra == "and-cuda" (from tensorflow[and-cuda]) (from versions: 0.0.1.dev5)
        """,
        "W0000 TensorFlow GPU support is not available on native Windows for TensorFlow >= 2.11. Even if CUDA/cuDNN are installed",
        """
        ### OS platform and distribution
        Windows 11
        ### TensorFlow version
        2.15
        ### Current behavior?
        tf.config.list_physical_devices('GPU')  # [] is returned
        """,
        """
        >>> print(tf.config.list_physical_devices('GPU'))
        []
        C:\\Users\\x\\AppData\\Local\\Programs\\Python\\Python311\\python.exe tf 2.16.1 Num GPUs Available: 0
        """,
    ),
    "rocm-gpu-unsupported": (
        "E tensorflow/stream_executor/rocm/rocm_driver.cc:302] failed call to hipInit: HIP_ERROR_InvalidDevice",
        """
        E tensorflow/compiler/xla/stream_executor/rocm/rocm_driver.cc:302] failed call to hipInit: HIP_ERROR_NoDevice
        I rocm_diagnostics.cc:112] retrieving ROCM diagnostic information for host: box
        """,
        """
        0a:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Navi 21 [Radeon RX 6800/6800 XT / 6900 XT] (rev c1)
        bash: nvidia-smi: command not found
        Could not find cuda drivers on your machine, GPU will not be used.
        """,
    ),
    "tensorflow-cpu-build": (
        "AssertionError: Torch not compiled with CUDA enabled",
        """
        >>> print(tf.test.is_built_with_cuda())
        False
        >>> tf.config.list_physical_devices('GPU')
        []
        """,
        "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. AssertionError: Torch not compiled with CUDA enabled",
        "tf.test.is_built_with_cuda(): False",
    ),
}

WARNED = {
    "windows-native-unsupported": (
        """
        WARNING:tensorflow:TensorFlow GPU support is not available on native Windows for TensorFlow >= 2.11.
        Epoch 1/3
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    ),
    "tensorflow-cpu-build": (
        "An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu.",
    ),
}

NO_ERROR = (
    "tensorflow-rocm                      2.14.0\nrocm_smi: /dev/kfd is there",
    "/Users/me/train.py\nNum GPUs Available:  0\n9/9 [==============================] - 1s 20ms/step - loss: 0.5",
    """
        Metal device set to: Apple M2 Max
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    "INFO:jax._src.xla_bridge:Unable to initialize backend 'rocm': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'",
    """
        I0000 xla/pjrt: Unable to initialize backend 'cuda': CUDA backend not built
        step 100 loss 2.0
        """,
)
