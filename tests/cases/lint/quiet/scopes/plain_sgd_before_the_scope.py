import keras
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
optimizer = keras.optimizers.SGD(0.1)
with strategy.scope():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(optimizer=optimizer, loss="mse")
model.fit(x.batch(8).prefetch(2))
