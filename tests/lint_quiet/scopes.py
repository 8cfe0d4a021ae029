"""Models that are built in their strategy's scope in a roundabout way, or have no strategy."""

PROGRAMS = {
    "a scope through an exit stack": """
        import contextlib, tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with contextlib.ExitStack() as stack:
            stack.enter_context(strategy.scope())
            model = tf.keras.Sequential([])
        model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x)
    """,
    "built through an exit stack, compiled in a block": """
        import contextlib, tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        stack = contextlib.ExitStack()
        stack.enter_context(strategy.scope())
        model = tf.keras.Sequential([])
        with strategy.scope():
            model.compile(tf.keras.optimizers.Adam(), "mse")
    """,
    "built in a block, compiled through an exit stack": """
        import contextlib, tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
        with contextlib.suppress(KeyError):
            stack.enter_context(strategy.scope())
        model.compile(tf.keras.optimizers.Adam(), "mse")
    """,
    "scope stored and entered by function": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        scope = strategy.scope
        with scope():
            model = tf.keras.Sequential([])
            model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x)
    """,
    "decorated in scope": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def in_scope(f):
            def inner(*a):
                with strategy.scope():
                    return f(*a)
            return inner
        @in_scope
        def build():
            m = tf.keras.Sequential([])
            m.compile(tf.keras.optimizers.Adam(), "mse")
            return m
        model = build()
        model.fit(x)
    """,
    "compile by load in scope": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model = tf.keras.Sequential([])
            opt = tf.keras.optimizers.Adam()
        model.compile(optimizer=opt, loss=tf.keras.losses.MeanSquaredError(), metrics=["mae"])
    """,
    "a scope of somebody's context manager": """
        import contextlib, tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        @contextlib.contextmanager
        def everywhere():
            with strategy.scope():
                yield
        with everywhere():
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
        model.fit(x)
    """,
    "a strategy set for good": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        tf.distribute.experimental_set_strategy(strategy)
        model = tf.keras.Sequential([])
        model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x)
    """,
    "a library's function may be called in a scope": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def train(data):
            model = tf.keras.Sequential([])
            model.compile(tf.keras.optimizers.Adam(), "mse")
            model.fit(data)
        run_in(strategy.scope, train)
    """,
    "a module whose function others call": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def train(data):
            model = tf.keras.Sequential([])
            model.compile("adam", "mse")
            model.fit(data)
    """,
    "a strategy handed to a trainer": """
        import tensorflow as tf
        from mylib import Trainer
        strategy = tf.distribute.MirroredStrategy()
        model = tf.keras.Sequential([])
        trainer = Trainer(model, strategy)
        model.compile("adam", "mse")
        model.fit(x)
    """,
    "strategy returned to a base class": """
        import tensorflow as tf
        from lib import Base
        class T(Base):
            def __init__(self):
                self.strategy = tf.distribute.MirroredStrategy()
                self.model = self.build()
            def build(self):
                m = tf.keras.Sequential([]); m.compile("adam", "mse"); return m
            def go(self):
                self.model.fit(x)
        T().go()
    """,
    "a scope or none": """
        import contextlib, tensorflow as tf
        scope = tf.distribute.MirroredStrategy().scope() if many else contextlib.nullcontext()
        with scope:
            model = tf.keras.Sequential([])
            model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x)
    """,
    "a strategy made after the training": """
        import tensorflow as tf
        model = tf.keras.Sequential([])
        model.compile("adam", "mse")
        model.fit(x)
        strategy = tf.distribute.MirroredStrategy()
    """,
    "strategy made, used only if several": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        if strategy.num_replicas_in_sync > 1:
            train_distributed(strategy)
        else:
            m = tf.keras.Sequential([]); m.compile("adam", "mse"); m.fit(x)
    """,
    "strategy behind flag": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy() if FLAGS.multi else None
        m = tf.keras.Sequential([]); m.compile("adam", "mse"); m.fit(x)
    """,
    "one device": """
        import tensorflow as tf
        strategy = tf.distribute.OneDeviceStrategy("/gpu:0")
        model = tf.keras.Sequential([])
        model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x)
    """,
    "a teacher beside the strategy": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        teacher = tf.keras.Sequential([])
        teacher.compile(tf.keras.optimizers.Adam(), "mse")
        teacher.fit(x)
        with strategy.scope():
            student = tf.keras.Sequential([])
            student.compile(tf.keras.optimizers.Adam(), "mse")
        student.fit(x)
    """,
    "baseline single then multi": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def build():
            m = tf.keras.Sequential([]); m.compile(tf.keras.optimizers.Adam(), "mse"); return m
        single = build()
        single.fit(x)
        with strategy.scope():
            multi = build()
        multi.fit(x)
    """,
    "sklearn's fit": """
        import tensorflow as tf
        from sklearn.linear_model import LogisticRegression
        strategy = tf.distribute.MirroredStrategy()
        model = LogisticRegression()
        model.fit(x, y)
    """,
    "a teacher outside, the student in the scope of whichever strategy there is": """
        import tensorflow as tf
        try:
            resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
            strategy = tf.distribute.TPUStrategy(resolver)
        except ValueError:
            strategy = tf.distribute.get_strategy()
        teacher = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        teacher.compile("adam", "mse")
        teacher.fit(x, y)
        with strategy.scope():
            student = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            student.compile("adam", "mse")
        student.fit(x, y)
    """,
}
