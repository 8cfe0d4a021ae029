"""Keras' fit under a strategy of several workers, with Keras 2."""

PROGRAMS = {
    "several workers on Keras 2": """
        import os
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        import keras, tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "mwms legacy env cli": """
        import os
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
        import keras, tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "mwms legacy env update": """
        import os
        os.environ.update(TF_USE_LEGACY_KERAS="1")
        import keras, tensorflow as tf
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "an older TensorFlow in a comment": """
        import json, os
        import tensorflow as tf
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})
        # pip install tensorflow==2.15.1
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "an older TensorFlow in words": """
        import json, os
        import tensorflow as tf
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})
        # Tested with TensorFlow 2.10 and CUDA 11.
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "tf.keras with a bound": """
        import json, os
        import tensorflow as tf
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})
        # needs tensorflow[and-cuda]<2.16
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "Keras 2 in a comment": """
        import json, os
        import tensorflow as tf
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})
        # run it with TF_USE_LEGACY_KERAS=1
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "a version asked for": """
        import json, os
        import tensorflow as tf
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})
        assert tf.__version__.startswith("2.")
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "one worker alone": """
        import json, os
        import tensorflow as tf
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["localhost:1"]}, "task": {"type": "worker", "index": 0}})
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "TensorFlow's own Keras": """
        import os
        import tensorflow as tf
        from tensorflow.python.keras import Sequential
        os.environ["TF_CONFIG"] = config
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "TensorFlow's tutorial, main.py": """
        import json, os
        import tensorflow as tf
        import mnist_setup
        per_worker_batch_size = 64
        tf_config = json.loads(os.environ["TF_CONFIG"])
        num_workers = len(tf_config["cluster"]["worker"])
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        global_batch_size = per_worker_batch_size * num_workers
        multi_worker_dataset = mnist_setup.mnist_dataset(global_batch_size)
        with strategy.scope():
            multi_worker_model = mnist_setup.build_and_compile_cnn_model()
        multi_worker_model.fit(multi_worker_dataset, epochs=3, steps_per_epoch=70)
    """,
}
