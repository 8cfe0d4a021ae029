import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
def build():
    m = tf.keras.Sequential([]); m.compile(tf.keras.optimizers.Adam(), "mse"); return m
single = build()
single.fit(x)
with strategy.scope():
    multi = build()
multi.fit(x)
