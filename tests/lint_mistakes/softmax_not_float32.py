"""A last softmax in half precision under a mixed precision policy."""

PROGRAMS = {
    "seq": """
        import tensorflow as tf
        tf.keras.mixed_precision.set_global_policy("mixed_float16")
        m=tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
        m.compile("adam","mse")
    """,
    "tf.nn.softmax": """
        import tensorflow as tf
        from tensorflow.keras import mixed_precision as mp
        mp.set_global_policy("mixed_float16")
        m=tf.keras.Sequential([tf.keras.layers.Dense(3, activation=tf.nn.softmax)])
        m.compile("adam","mse")
    """,
    "gpus guard": """
        import tensorflow as tf
        if tf.config.list_physical_devices("GPU"):
          tf.keras.mixed_precision.set_global_policy("mixed_float16")
        m=tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
        m.compile("adam","mse")
    """,
    "experimental": """
        import tensorflow as tf
        from tensorflow.keras.mixed_precision import experimental as mp
        mp.set_policy(mp.Policy("mixed_float16"))
        i=tf.keras.Input((3,))
        o=tf.keras.layers.Dense(3,activation="softmax")(i)
        m=tf.keras.Model(i,o)
        m.compile("adam","mse")
    """,
    "function": """
        import keras
        def build():
          i=keras.Input((3,))
          x=keras.layers.Dense(3)(i)
          o=keras.layers.Softmax()(x)
          return keras.Model(i,o)
        def main():
          keras.mixed_precision.set_global_policy("mixed_bfloat16")
          m=build()
          m.compile("adam","mse")
        main()
    """,
    "list outputs": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_bfloat16")
        i=keras.Input((3,))
        o=keras.layers.Dense(3,"softmax")(i)
        m=keras.Model(inputs=[i],outputs=[o])
        m.compile("adam","mse")
    """,
    "set then function at root": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        def build():
          m=keras.Sequential()
          m.add(keras.layers.Dense(3,activation="softmax"))
          m.compile("adam","mse")
          return m
    """,
    "x = reuse": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        i=keras.Input((3,))
        x=keras.layers.Dense(3)(i)
        x=keras.layers.Activation("softmax")(x)
        m=keras.models.Model(i,x)
        m.compile("adam","mse")
    """,
    "no compile, tape": """
        import keras
        keras.mixed_precision.set_dtype_policy("mixed_float16")
        m=keras.Sequential([keras.layers.Dense(3,activation="softmax")])
        m.compile(loss="mse")
    """,
    "sigmoid?": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        m=keras.Sequential([keras.layers.Dense(3,activation=keras.activations.softmax)])
        m.compile("adam","mse")
    """,
    "the session is cleared before and after": """
        import keras
        keras.backend.clear_session()
        keras.mixed_precision.set_global_policy("mixed_float16")
        for fold in range(3):
            model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
            model.compile("adam", "sparse_categorical_crossentropy")
            keras.backend.clear_session()
    """,
    "arguments handed on": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        def dense(*args, **kwargs):
            return keras.layers.Dense(*args, **kwargs)
        model = keras.Sequential([dense(3, activation="softmax")])
        model.compile("adam", "sparse_categorical_crossentropy")
    """,
    "a subclass": """
        import tensorflow as tf
        from tensorflow import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        class Net(keras.Model):
            def __init__(self, classes):
                super().__init__()
                self.flatten = keras.layers.Flatten()
                self.head = keras.layers.Dense(classes, activation="softmax")
            def call(self, inputs, training=False):
                x = self.flatten(inputs)
                return self.head(x)
        model = Net(10)
        model.compile("adam", "sparse_categorical_crossentropy")
    """,
    "a subclass that names what it returns": """
        import keras
        class Base(keras.Model):
            def call(self, x):
                for layer in self.hidden:
                    x = layer(x)
                x = self.softmax(x)
                return x
        class Net(Base):
            def __init__(self):
                super().__init__()
                self.hidden = [keras.layers.Dense(8), keras.layers.Dense(3)]
                self.softmax = keras.layers.Softmax()
        def main():
            keras.mixed_precision.set_dtype_policy("mixed_bfloat16")
            model = Net()
            model.compile("adam", "sparse_categorical_crossentropy")
        main()
    """,
}
