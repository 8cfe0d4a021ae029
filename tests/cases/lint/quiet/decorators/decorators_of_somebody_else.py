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
