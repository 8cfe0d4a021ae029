"""A model built in a strategy's scope, compiled outside with an optimizer made outside."""

PROGRAMS = {
    "plain": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        with s.scope():
          m=tf.keras.Sequential([])
        m.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
        m.fit(x)
    """,
    "function": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        def b():
          m=tf.keras.Sequential([])
          m.add(tf.keras.layers.Dense(1))
          return m
        with s.scope():
          m=b()
        m.compile(tf.keras.optimizers.SGD(0.1), "mse")
    """,
    "from import": """
        from tensorflow.keras.optimizers import Adam
        from tensorflow.keras.models import Sequential
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        with s.scope():
          m=Sequential()
        m.compile(Adam(), "mse")
    """,
    "legacy": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        with s.scope():
          m=tf.keras.Sequential([])
        m.compile(tf.keras.optimizers.legacy.Adam(), "mse")
    """,
    "subclass": """
        import tensorflow as tf
        s=tf.distribute.MirroredStrategy()
        class N(tf.keras.Model): pass
        with s.scope():
          m=N()
        m.compile(tf.keras.optimizers.Adam(), "mse")
    """,
    "in a method with a registering decorator": """
        import tensorflow as tf
        STEPS = {}
        def step(name):
            def register(method):
                STEPS[name] = method
                return method
            return register
        class Job:
            @step("build")
            def build(self):
                self.strategy = tf.distribute.MirroredStrategy()
                with self.strategy.scope():
                    self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            def run(self):
                self.build()
                self.model.compile(tf.keras.optimizers.Adam(), "mse")
        Job().run()
    """,
    "in the scope of a TPU, where there is one": """
        import tensorflow as tf
        try:
            strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
        except ValueError:
            strategy = tf.distribute.get_strategy()
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x, y)
    """,
}
