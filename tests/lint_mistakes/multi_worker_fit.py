"""fit of Keras 3 under MultiWorkerMirroredStrategy."""

PROGRAMS = {
    "plain": """
        import keras, tensorflow as tf
        s=tf.distribute.MultiWorkerMirroredStrategy()
        with s.scope():
          m=keras.Sequential([]); m.compile("adam","mse")
        m.fit(d)
    """,
    "exp": """
        from keras import layers, Model
        import keras
        import tensorflow as tf
        s=tf.distribute.experimental.MultiWorkerMirroredStrategy()
        with s.scope():
          i=keras.Input((3,)); m=Model(i, layers.Dense(1)(i)); m.compile("adam","mse")
        m.fit(d)
    """,
    "fn": """
        import keras
        import tensorflow as tf
        def build():
          m=keras.Sequential([]); m.compile("adam","mse"); return m
        def main():
          s=tf.distribute.MultiWorkerMirroredStrategy()
          with s.scope():
            m=build()
          m.fit(d)
        main()
    """,
    "in scope": """
        import keras
        import tensorflow as tf
        s=tf.distribute.MultiWorkerMirroredStrategy()
        with s.scope():
          m=keras.Sequential([]); m.compile("adam","mse")
          m.fit(d)
    """,
    "env backend": """
        import os
        os.environ["KERAS_BACKEND"]="tensorflow"
        import tensorflow as tf
        import keras
        s=tf.distribute.MultiWorkerMirroredStrategy()
        with s.scope():
          m=keras.applications.ResNet50(); m.compile("adam","mse")
        m.fit(d)
    """,
}
