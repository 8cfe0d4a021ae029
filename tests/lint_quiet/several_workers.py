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
}
