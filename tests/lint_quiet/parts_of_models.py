"""Models of several parts under a strategy, each made where it may be made."""

PROGRAMS = {
    "layers made outside, and built inside": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        head = tf.keras.layers.Dense(1)
        encoder = tf.keras.Sequential([tf.keras.layers.Dense(4)])
        noise = tf.keras.Sequential([tf.keras.layers.GaussianNoise(0.1), tf.keras.layers.Dropout(0.1)])
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.Input((8,)), noise, encoder, head])
            model.compile("adam", "mse")
        model.fit(x, y)
    """,
    "layers without weights called outside": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        inputs = tf.keras.Input((28, 28))
        x = tf.keras.layers.Flatten()(inputs)
        with strategy.scope():
            model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(x))
            model.compile("adam", "mse")
        model.fit(x, y)
    """,
    "a layer called in the scope first": """
        import keras
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        inputs = keras.Input((8,))
        shared = keras.layers.Dense(8)
        with strategy.scope():
            shared(inputs)
        x = shared(inputs)
        with strategy.scope():
            model = keras.Model(inputs, x)
            model.compile("adam", "mse")
        model.fit(x, y)
    """,
    "a frozen base": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        base = tf.keras.applications.MobileNetV2(include_top=False, pooling="avg")
        base.trainable = False
        with strategy.scope():
            model = tf.keras.Sequential([base, tf.keras.layers.Dense(1)])
            model.compile("adam", "mse")
        model.fit(x, y)
    """,
    "a base frozen layer by layer, or by somebody": """
        import tensorflow as tf
        from mylib import freeze
        strategy = tf.distribute.MirroredStrategy()
        base = tf.keras.applications.MobileNetV2(include_top=False, pooling="avg")
        freeze(base)
        with strategy.scope():
            model = tf.keras.Sequential([base, tf.keras.layers.Dense(1)])
            model.compile("adam", "mse")
        model.fit(x, y)
    """,
    "all of it in the scope": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def build():
            base = tf.keras.applications.MobileNetV2(include_top=False, pooling="avg")
            return tf.keras.Model(base.input, tf.keras.layers.Dense(1)(base.output))
        with strategy.scope():
            model = build()
            model.compile("adam", "mse")
        model.fit(x, y)
        features = tf.keras.applications.MobileNetV2(include_top=False, pooling="avg")
        with strategy.scope():
            extractor = tf.keras.Sequential([features, tf.keras.layers.Dense(1)])
        extractor.predict(x)
    """,
    "a function that is called in a scope elsewhere": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def train(data):
            base = tf.keras.applications.MobileNetV2(include_top=False, pooling="avg")
            with strategy.scope():
                model = tf.keras.Sequential([base, tf.keras.layers.Dense(1)])
                model.compile("adam", "mse")
            model.fit(data)
    """,
    "trained by strategy.run, not built before, on Keras 2": """
        import os
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam()
        def train_step(batch):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(batch) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        for batch in strategy.experimental_distribute_dataset(dataset):
            strategy.run(train_step, args=(batch,))
    """,
    "a teacher in strategy.run": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        teacher = tf.keras.applications.ResNet50()
        with strategy.scope():
            student = tf.keras.applications.MobileNetV2()
            optimizer = tf.keras.optimizers.Adam()
        def train_step(batch):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((student(batch) - teacher(batch)) ** 2)
            gradients = tape.gradient(loss, student.trainable_variables)
            optimizer.apply_gradients(zip(gradients, student.trainable_variables))
        for batch in strategy.experimental_distribute_dataset(dataset):
            strategy.run(train_step, args=(batch,))
    """,
    "the same name for another model afterwards": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.applications.MobileNetV2()
            optimizer = tf.keras.optimizers.Adam()
        def train_step(batch):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(batch) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        def train():
            for batch in strategy.experimental_distribute_dataset(dataset):
                strategy.run(train_step, args=(batch,))
        train()
        model = tf.keras.applications.MobileNetV2()
        model.load_weights("trained.weights.h5")
    """,
}
