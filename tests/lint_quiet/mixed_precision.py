"""Mixed precision with an output in float32, or without the policy: Keras' guide among them."""

PROGRAMS = {
    "mixed precision, the wrong output is replaced": """
        import tensorflow as tf
        from tensorflow import keras
        from tensorflow.keras import layers, mixed_precision
        mixed_precision.set_global_policy(mixed_precision.Policy("mixed_float16"))
        inputs = keras.Input(shape=(784,))
        x = layers.Dense(64, activation="relu")(inputs)
        outputs = layers.Dense(10, activation="softmax", name="predictions")(x)
        x = layers.Dense(10, name="dense_logits")(x)
        outputs = layers.Activation("softmax", dtype="float32", name="predictions")(x)
        outputs = layers.Activation("linear", dtype="float32")(outputs)
        model = keras.Model(inputs=inputs, outputs=outputs)
        model.compile(loss="sparse_categorical_crossentropy", optimizer=keras.optimizers.RMSprop())
        model.fit(x_train, y_train, batch_size=8192, epochs=5)
    """,
    "mixed precision, the global policy is float32 again": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        keras.mixed_precision.set_global_policy("float32")
        model = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
        model.compile("adam", "mse")
    """,
    "mixed precision, only if asked for": """
        import keras
        if args.fp16:
            keras.mixed_precision.set_global_policy("mixed_float16")
        model = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
        model.compile("adam", "mse")
    """,
    "softmax before the policy": """
        import keras
        model = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
        model.compile("adam", "mse")
        keras.mixed_precision.set_global_policy("mixed_float16")
    """,
    "attention's softmax in the middle": """
        import keras
        from keras import layers
        keras.mixed_precision.set_global_policy("mixed_bfloat16")
        inputs = keras.Input((8,))
        weights = layers.Softmax()(layers.Dense(8)(inputs))
        outputs = layers.Dense(1, dtype="float32")(layers.Multiply()([inputs, weights]))
        model = keras.Model(inputs, outputs)
        model.compile("adam", "mse")
    """,
    "logits": """
        import keras
        keras.config.set_dtype_policy("mixed_float16")
        model = keras.Sequential([keras.layers.Dense(10)])
        model.add(keras.layers.Activation("softmax", dtype="float32"))
        model.compile("adam", "mse")
    """,
    "a backbone that is built, never compiled": """
        import keras
        keras.config.set_dtype_policy("mixed_float16")
        backbone = keras.Sequential([keras.layers.Dense(10, activation="softmax")])
        model = keras.Sequential([backbone, keras.layers.Dense(1, dtype="float32")])
        model.compile("adam", "mse")
    """,
    "softmax then wrapped": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        inputs = keras.Input((4,))
        x = keras.layers.Dense(3, activation="softmax", dtype=keras.mixed_precision.Policy("float32"))(inputs)
        m = keras.Model(inputs, x)
        m.compile("adam", "mse")
    """,
    "policy of context": """
        import keras
        keras.config.set_dtype_policy("mixed_bfloat16")
        inputs = keras.Input((4,))
        y = keras.layers.Dense(3, activation="softmax")(inputs)
        y = keras.ops.cast(y, "float32")
        m = keras.Model(inputs, y)
        m.compile("adam", "mse")
    """,
    "the policy is gone with the session": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        a = keras.Sequential([keras.layers.Dense(3), keras.layers.Activation("softmax", dtype="float32")])
        a.compile("adam", "sparse_categorical_crossentropy")
        keras.backend.clear_session()
        b = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
        b.compile("adam", "sparse_categorical_crossentropy")
        keras.utils.clear_session()
        c = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
        c.compile("adam", "sparse_categorical_crossentropy")
    """,
    "arguments changed on the way": """
        import keras
        keras.mixed_precision.set_global_policy("mixed_float16")
        def dense(*args, **kwargs):
            kwargs.setdefault("dtype", "float32")
            return keras.layers.Dense(*args, **kwargs)
        model = keras.Sequential([dense(3, activation="softmax")])
        model.compile("adam", "sparse_categorical_crossentropy")
        other = keras.Sequential([keras.layers.Flatten(), (lambda **given: keras.layers.Dense(3, **given))(**options)])
        other.compile("adam", "sparse_categorical_crossentropy")
    """,
    "subclasses with an output in float32": """
        import tensorflow as tf
        from tensorflow.keras import Model, layers, mixed_precision
        mixed_precision.set_global_policy("mixed_float16")
        class Wide(Model):
            def __init__(self):
                super().__init__()
                self.head = layers.Dense(10, activation="softmax", dtype="float32")
            def call(self, x):
                return self.head(x)
        class Attention(Model):
            def __init__(self):
                super().__init__()
                self.scores = layers.Dense(10, activation="softmax")
                self.values = layers.Dense(10)
                self.head = layers.Dense(1)
            def call(self, x):
                x = self.scores(x) * self.values(x)
                return self.head(x)
        class Cast(Model):
            def __init__(self):
                super().__init__()
                self.head = layers.Dense(10, activation="softmax")
                self.cast = layers.Activation("linear", dtype="float32")
            def call(self, x):
                return self.cast(self.head(x))
        class Logits(Model):
            def __init__(self):
                super().__init__()
                self.dense = layers.Dense(10)
                self.head = layers.Softmax()
            def call(self, x, training=False):
                x = self.dense(x)
                if training:
                    return x
                return self.head(x)
        wide = Wide()
        wide.compile("adam", "sparse_categorical_crossentropy")
        attention = Attention()
        attention.compile("adam", "sparse_categorical_crossentropy")
        cast = Cast()
        cast.compile("adam", "sparse_categorical_crossentropy")
        logits = Logits()
        logits.compile("adam", "sparse_categorical_crossentropy")
    """,
    "a subclass made before the policy": """
        import keras
        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.head = keras.layers.Dense(10, activation="softmax")
            def call(self, x):
                return self.head(x)
        model = Net()
        keras.mixed_precision.set_global_policy("mixed_float16")
        model.compile("adam", "sparse_categorical_crossentropy")
    """,
    "a policy that is set after a table of builders was used": """
        import keras
        def small():
            model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
            model.compile("adam", "categorical_crossentropy")
            return model
        model = {"small": small}["small"]()
        keras.mixed_precision.set_global_policy("mixed_float16")
    """,
}
