"""Keras: its backend, its versions, precision policies, and what was removed from TensorFlow.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "horovod-failed": (
        ("ImportError: Extension horovod.tensorflow has not been built: /lib/horovod/mpi_lib.so not found", {}),
        ("ValueError: Horovod has not been built with NCCL support", {}),
    ),
    "keras-backend": (
        ("Using TensorFlow backend.", {"name": "tensorflow"}),
        ("Using PyTorch backend.", {"name": "torch"}),
    ),
    "keras-backend-other": (
        (">>> import theano", {"name": "theano"}),
        ("Theano                 0.9.0", {"name": "theano"}),
        ("Successfully installed keras-1.2.2 scipy-0.18.1 theano-0.8.2", {"name": "theano"}),
        ("I am using Theano with Keras", {"name": "theano"}),
        ("cntk-gpu==2.7", {"name": "cntk"}),
    ),
    "keras-backend-invalid": (
        ("ValueError: Unable to import backend : mxnet", {"name": "mxnet"}),
        ("ValueError: Invalid backend: 'cntk'", {"name": "cntk"}),
    ),
    "keras-version-conflict": (
        ("AttributeError: module 'tensorflow.python.keras.backend' has no attribute 'get_graph'", {}),
        ("ValueError: Your currently installed version of Keras is Keras 3, but this is not yet supported in Transformers.", {}),
        ("ImportError: `keras.optimizers.legacy` is not supported in Keras 3. When using `tf.keras`, to continue", {}),
        ("AttributeError: module 'keras.utils' has no attribute 'to_categorical2'", {}),
        ("ModuleNotFoundError: No module named 'keras.engine.topology'", {}),
        (
            "TypeError: Error when deserializing: Unrecognized keyword arguments passed to InputLayer: {'batch_shape': [None, 28]}",
            {},
        ),
    ),
    "legacy-api": (
        ("AttributeError: module 'tensorflow' has no attribute 'Session'", {"name": "Session"}),
        ("ModuleNotFoundError: No module named 'tensorflow.contrib'", {"name": "tensorflow.contrib"}),
        ("ImportError: cannot import name 'multi_gpu_model' from 'keras.utils'", {"name": "multi_gpu_model"}),
    ),
    "precision-unsupported": (
        ("WARNING:tensorflow:Mixed precision compatibility check (mixed_float16): WARNING", {"dtype": "mixed_float16"}),
        ("ValueError: Your setup doesn't support bf16/gpu. You need Ampere+ GPU with cuda>=11.0", {"dtype": "bf16"}),
        ("ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0.", {"dtype": "bfloat16"}),
    ),
}

NOT_MEANT = {
    "horovod-failed": ("Horovod has been built with NCCL support",),
    "keras-backend": ("keras backend is set by KERAS_BACKEND",),
    "keras-backend-other": (
        "Keras runs on top of TensorFlow, CNTK, or Theano",
        "use TensorFlow and not Theano",
        "I do not want to use Theano",
        "from keras.backend import theano_backend",
    ),
    "keras-backend-invalid": ("KERAS_BACKEND=jax",),
    "keras-version-conflict": ("Keras 3.15.1 on TensorFlow 2.21", "AttributeError: module 'numpy' has no attribute 'bool'"),
    "legacy-api": (
        "WARNING: The name tf.Session is deprecated. Please use tf.compat.v1.Session instead.",
        "module 'tensorflow' has no attribute 'my_typo'",
    ),
    "precision-unsupported": (
        "INFO:tensorflow:Mixed precision compatibility check (mixed_float16): OK",
        "bf16 is supported",
        "using bfloat16",
    ),
}
