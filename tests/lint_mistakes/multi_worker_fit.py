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
    "as tensorflow.keras": """
        import json, os
        os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}})
        import tensorflow as tf
        from tensorflow import keras
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = keras.Sequential([keras.layers.Dense(1)])
            model.compile("adam", "mse")
        model.fit(dataset)
    """,
    "as tf.keras, in a class": """
        import json, os
        import tensorflow as tf
        class Net(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = tf.keras.layers.Dense(1)
        workers = len(json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"])
        strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = Net()
            model.compile("adam", "mse")
        model.fit(dataset.batch(64 * workers), epochs=2)
    """,
    "on Slurm": """
        import tensorflow as tf
        resolver = tf.distribute.cluster_resolver.SlurmClusterResolver()
        strategy = tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile("adam", "mse")
        model.fit(dataset)
    """,
}
