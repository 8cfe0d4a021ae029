import keras
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy()
metric = keras.metrics.MeanSquaredError()
with strategy.scope():
    optimizer = keras.optimizers.Adam(1e-3)
    model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer=optimizer, loss="mse", metrics=[metric])
model.fit(x.batch(8).prefetch(2))
