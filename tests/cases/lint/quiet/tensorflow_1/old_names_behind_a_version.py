import tensorflow as tf

if tf.__version__.startswith("1."):
    optimizer = tf.train.AdamOptimizer(0.01)
else:
    optimizer = tf.keras.optimizers.Adam(0.01)
