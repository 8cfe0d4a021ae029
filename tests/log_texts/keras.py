"""Keras: versions that do not go together, and backends.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "keras-version-conflict": (
        "ModuleNotFoundError: No module named 'keras.utils.vis_utils'",
        "ValueError: Your currently installed version of Keras is Keras 3, but this is not yet supported in Transformers. Please install the backwards-compatible tf-keras package with `pip install tf-keras`.",
        "ModuleNotFoundError: No module named 'keras.engine'",
        "ImportError: cannot import name 'Adam' from 'keras.optimizers' (/opt/p/keras/optimizers.py)",
        "ImportError: Keras cannot be imported. Check that it is installed.",
        "AttributeError: module 'keras.utils.generic_utils' has no attribute 'get_custom_objects'",
        "ValueError: File format not supported: filepath=model_dir. Keras 3 only supports V3 `.keras` files and legacy H5 format files",
        "ImportError: keras.optimizers.legacy is not supported in Keras 3. When using `tf.keras`, to continue using a `tf.keras.optimizers.legacy` optimizer, you can install the `tf_keras` package",
        "AttributeError: module 'keras.backend' has no attribute 'get_session'",
        "TypeError: Error when deserializing class 'InputLayer' using config={'batch_shape': [None, 28]}. Exception encountered: Unrecognized keyword arguments: ['batch_shape']",
        "ValueError: Unrecognized keyword arguments passed to LSTM: {'time_major': False}",
        "ImportError: `keras.optimizers.legacy` is not supported in Keras 3.",
        "AttributeError: module 'tensorflow.compat.v2.__internal__' has no attribute 'register_clear_session_function'",
        "ValueError: A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is a symbolic placeholder for a shape and dtype, used when constructing Keras Functional models",
        """
        RuntimeError: Failed to import transformers.modeling_tf_utils because of the following error (look up to see its traceback):
        No module named 'keras.engine'
        """,
        "ImportError: tf.keras has been moved... This version of TensorFlow Probability requires TensorFlow version >= 2.18; Detected an installation of version 2.15.1. You need to install the tf-keras package.",
        "ModuleNotFoundError: No module named 'tensorflow.keras'",
        "ImportError: cannot import name 'to_categorical' from 'keras.utils' (/opt/p/keras/utils/__init__.py)",
        "ImportError: cannot import name '_legacy_layers' from 'keras.src'",
        "AttributeError: module 'keras.src.backend' has no attribute 'convert_to_numpy'",
        "TypeError: Could not locate class 'Functional'. Make sure custom classes are decorated with `@keras.saving.register_keras_serializable()`.",
        "ModuleNotFoundError: No module named 'tf_keras'",
    ),
    "keras-backend-mismatch": (
        """
        File "/opt/p/keras/src/backend/__init__.py", line 30, in <module>
        File "/opt/p/keras/src/backend/jax/__init__.py", line 1, in <module>
        ModuleNotFoundError: No module named 'jax'
        """,
        "ValueError: Unable to import backend : mxnet",
        """
        ModuleNotFoundError: No module named 'theano'
        Using Theano backend.
        """,
        # the one that is here is not the one that is taken
        """
        >>> import theano
        >>> import keras
        Using TensorFlow backend.
        Traceback (most recent call last):
        File "/opt/p/keras/backend/tensorflow_backend.py", line 1, in <module>
        import tensorflow as tf
        ImportError: No module named tensorflow
        """,
        """
        Successfully installed keras-1.2.2 numpy-1.12.0 pyyaml-3.12 scipy-0.18.1 theano-0.8.2
        Using TensorFlow backend.
        ModuleNotFoundError: No module named 'tensorflow'
        """,
        """
        I want to use Theano as the backend, and Keras says:
        Using TensorFlow backend.
        ModuleNotFoundError: No module named 'tensorflow'
        """,
        "cntk                 2.7\nUsing TensorFlow backend.\nModuleNotFoundError: No module named 'tensorflow'",
    ),
}

WARNED = {
    "keras-version-conflict": (
        "tensorflow 2.15.0 requires keras<2.16,>=2.15.0, but you have keras 3.0.5 which is incompatible.",
    ),
    "keras-backend-mismatch": (
        "Using Theano backend.",
        """
        $ KERAS_BACKEND=jax python mnist.py
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    ),
}

NO_ERROR = ("Using TensorFlow backend.",)
