import tensorflow as tf
d = tf.data.Dataset.from_generator(g, output_signature=s).batch(8)
opts = tf.data.Options()
d = d.apply(tf.data.experimental.prefetch_to_device("/gpu:0"))
m = tf.keras.Sequential([])
m.fit(d)
