import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([])
    opt = tf.keras.optimizers.Adam()
model.compile(optimizer=opt, loss=tf.keras.losses.MeanSquaredError(), metrics=["mae"])
