"""Functions whose decorators enter a strategy's scope, or may."""

PROGRAMS = {
    "built by what a decorator runs in the scope": """
        import functools
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def in_scope(fn):
            @functools.wraps(fn)
            def wrapper(*a, **k):
                with strategy.scope():
                    return fn(*a, **k)
            return wrapper
        @in_scope
        def build():
            return tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model = build()
        with strategy.scope():
            model.compile(tf.keras.optimizers.Adam(), "mse")
        model.fit(x, y)
    """,
    "compiled by what a decorator runs in the scope": """
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        def within(chosen):
            def scoped(fn):
                def wrapper(*a, **k):
                    with chosen.scope():
                        return fn(*a, **k)
                return wrapper
            return scoped
        @within(strategy)
        def compile_model(model, lr):
            model.compile(optimizer=tf.keras.optimizers.Adam(lr), loss="mse")
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        compile_model(model, lr=0.1)
        model.fit(x, y)
    """,
    "decorators of somebody else": """
        import tensorflow as tf
        from ours import distributed, scoped
        strategy = tf.distribute.MirroredStrategy()
        @distributed(strategy)
        def build():
            return tf.keras.Sequential([tf.keras.layers.Dense(1)])
        @scoped
        def compile_model(model):
            model.compile(optimizer=tf.keras.optimizers.Adam(), loss="mse")
        first = build()
        with strategy.scope():
            first.compile("adam", "mse")
            second = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        compile_model(second)
    """,
    "methods decorated by a context manager": """
        import contextlib
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        @contextlib.contextmanager
        def everywhere():
            with strategy.scope():
                yield
        class Trainer:
            @everywhere()
            def build(self):
                self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            def train(self, data):
                self.build()
                with strategy.scope():
                    self.model.compile("adam", "mse")
                self.model.fit(data)
        Trainer().train(load())
    """,
    "methods decorated by a wrapper": """
        import functools
        import tensorflow as tf
        def in_scope(method):
            def wrapper(self, *args):
                with self.strategy.scope():
                    return method(self, *args)
            return functools.update_wrapper(wrapper, method)
        class Trainer:
            def __init__(self):
                self.strategy = tf.distribute.MirroredStrategy()
                self.model = self.build(3)
                self.compile()
            @in_scope
            def build(self, n):
                return tf.keras.Sequential([tf.keras.layers.Dense(n)])
            @in_scope
            def compile(self):
                self.model.compile(tf.keras.optimizers.Adam(), "mse")
    """,
    "decorated by a class, and by a decorator that somebody else makes one": """
        import tensorflow as tf, wrapt
        strategy = tf.distribute.MirroredStrategy()
        class Scoped:
            def __init__(self, fn):
                self.fn = fn
            def __call__(self, *args):
                with strategy.scope():
                    return self.fn(*args)
        @wrapt.decorator
        def scoped(wrapped, instance, args, kwargs):
            with strategy.scope():
                return wrapped(*args, **kwargs)
        @Scoped
        def first():
            return tf.keras.Sequential([])
        @scoped
        def second():
            return tf.keras.Sequential([])
        one, two = first(), second()
        with strategy.scope():
            one.compile("adam", "mse")
            two.compile("adam", "mse")
    """,
}
