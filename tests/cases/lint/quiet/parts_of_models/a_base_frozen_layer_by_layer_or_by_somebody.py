import tensorflow as tf
from mylib import freeze
strategy = tf.distribute.MirroredStrategy()
base = tf.keras.applications.MobileNetV2(include_top=False, pooling="avg")
freeze(base)
with strategy.scope():
    model = tf.keras.Sequential([base, tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
model.fit(x, y)
