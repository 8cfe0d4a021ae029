import keras
import tensorflow as tf
base = keras.applications.ResNet50(include_top=False, pooling="avg")  # finding
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
