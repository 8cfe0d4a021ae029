import contextlib, tensorflow as tf
scope = tf.distribute.MirroredStrategy().scope() if many else contextlib.nullcontext()
with scope:
    model = tf.keras.Sequential([])
    model.compile(tf.keras.optimizers.Adam(), "mse")
model.fit(x)
