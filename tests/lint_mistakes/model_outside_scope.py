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
}
