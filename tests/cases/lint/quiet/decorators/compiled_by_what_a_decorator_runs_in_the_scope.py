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
