"""A model built outside the scope of the strategy made for it."""

PROGRAMS = {
    "plain": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        print(s.num_replicas_in_sync)
        m=tf.keras.Sequential([])
        m.compile("adam","mse")
        m.fit(x)
    """,
    "compile in": """
        import tensorflow as tf
        m=tf.keras.Sequential([])
        s=tf.distribute.MirroredStrategy()
        with s.scope():
          m.compile("adam","mse")
        m.fit(x)
    """,
    "with as": """
        import tensorflow as tf
        def build():
          i=tf.keras.Input((3,))
          return tf.keras.Model(i, tf.keras.layers.Dense(1)(i))
        def main():
          s=tf.distribute.MirroredStrategy()
          m=build()
          with s.scope():
            m.compile("adam","mse")
          m.fit(x)
        if __name__=="__main__": main()
    """,
    "applications": """
        import tensorflow as tf
        s=tf.distribute.TPUStrategy(r)
        b=tf.keras.applications.ResNet50()
        with s.scope():
          b.compile("adam","mse")
        b.fit(x)
    """,
    "only fit in scope": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        m=tf.keras.Sequential([])
        m.compile("adam","mse")
        with s.scope():
          m.fit(x)
    """,
    "layers added in scope only": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        m=tf.keras.applications.VGG16()
        with s.scope():
          m.compile("adam")
          m.fit(x)
    """,
    "loaded model": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        m=tf.keras.models.load_model("a.keras")
        with s.scope():
          m.compile("adam")
        m.fit(x)
    """,
    "decorated in ways that change nothing": """
        import functools, time
        import tensorflow as tf
        def timed(fn):
            @functools.wraps(fn)
            def wrapper(*args, **kwargs):
                start = time.time()
                result = fn(*args, **kwargs)
                print(time.time() - start)
                return result
            return wrapper
        @timed
        @functools.lru_cache(None)
        def build(n):
            return tf.keras.Sequential([tf.keras.layers.Dense(n)])
        @timed
        def compile_model(model, strategy):
            with strategy.scope():
                model.compile("adam", "mse")
        strategy = tf.distribute.MirroredStrategy()
        compile_model(build(3), strategy=strategy)
    """,
    "under click": """
        import click
        import tensorflow as tf
        @click.group()
        def cli():
            pass
        @cli.command()
        @click.option("--size")
        def train(size):
            strategy = tf.distribute.MirroredStrategy()
            model = tf.keras.Sequential([tf.keras.layers.Dense(size)])
            model.compile("adam", "mse")
            model.fit(x, y)
        cli()
    """,
    "a pretrained base": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        base = tf.keras.applications.MobileNetV2(include_top=False, input_shape=(96, 96, 3), pooling="avg")
        with strategy.scope():
            model = tf.keras.Sequential([base, tf.keras.layers.Dense(1)])
            model.compile("adam", "mse")
        model.fit(x, y)
    """,
    "a pretrained base, added": """
        import tensorflow as tf
        from tensorflow.keras.applications import EfficientNetB0
        from tensorflow.keras.models import Sequential
        def main():
            base = EfficientNetB0(include_top=False, pooling="avg")
            base.trainable = True
            strategy = tf.distribute.MirroredStrategy()
            with strategy.scope():
                model = Sequential()
                model.add(base)
                model.add(tf.keras.layers.Dense(1))
                model.compile("adam", "mse")
            model.fit(x, y)
        main()
    """,
    "a pretrained base, called": """
        import keras
        import tensorflow as tf
        base = keras.applications.ResNet50(include_top=False, pooling="avg")
        strategy = tf.distribute.MirroredStrategy()
        def build():
            inputs = keras.Input((96, 96, 3))
            x = base(inputs, training=False)
            outputs = keras.layers.Dense(1)(x)
            return keras.Model(inputs, outputs)
        with strategy.scope():
            model = build()
            model.compile("adam", "mse")
        model.fit(x, y)
    """,
    "on top of the output of a base": """
        import keras
        import tensorflow as tf
        base = keras.applications.ResNet50(include_top=False, pooling="avg")
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            outputs = keras.layers.Dense(1)(base.output)
            model = keras.Model(inputs=base.input, outputs=outputs)
            model.compile("adam", "mse")
        model.fit(x, y)
    """,
    "layers called outside": """
        import tensorflow as tf
        from tensorflow.keras import Input, Model
        from tensorflow.keras.layers import Dense, Flatten
        inputs = Input((28, 28))
        x = Flatten()(inputs)
        x = Dense(10)(x)
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = Model(inputs, x)
            model.compile("adam", "mse")
        model.fit(x_train, y_train)
    """,
    "a part that knows its input": """
        import keras
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        encoder = keras.Sequential()
        encoder.add(keras.layers.Dense(10, input_shape=(8,)))
        with strategy.scope():
            model = keras.Sequential([encoder, keras.layers.Dense(1)])
            model.compile("adam", "mse")
            model.fit(x, y)
    """,
    "trained by strategy.run": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam()
        def train_step(batch):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(batch) ** 2)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss
        @tf.function
        def distributed(batch):
            return strategy.run(train_step, args=(batch,))
        for batch in strategy.experimental_distribute_dataset(dataset):
            distributed(batch)
    """,
    "trained by strategy.run in a function": """
        import keras
        import tensorflow as tf
        def main():
            strategy = tf.distribute.MirroredStrategy()
            model = keras.applications.ResNet50()
            with strategy.scope():
                optimizer = keras.optimizers.Adam()
            def train_step(batch):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(model(batch) ** 2)
                gradients = tape.gradient(loss, model.trainable_weights)
                optimizer.apply_gradients(zip(gradients, model.trainable_weights))
            for batch in strategy.experimental_distribute_dataset(dataset):
                strategy.run(train_step, args=(batch,))
        main()
    """,
    "trained by strategy.run, its optimizer outside too": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.Adam()
        @tf.function
        def step(batch):
            def replica(x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(model(x) ** 2)
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                return loss
            return strategy.run(replica, args=(batch,))
        for batch in strategy.experimental_distribute_dataset(dataset):
            step(batch)
    """,
    "compiled in the scope of a TPU, where there is one": """
        import tensorflow as tf
        try:
            strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
        except ValueError:
            strategy = tf.distribute.get_strategy()
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        with strategy.scope():
            model.compile("adam", "mse")
        model.fit(x, y)
    """,
}
