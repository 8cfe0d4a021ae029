import tensorflow as tf
d = tf.data.Dataset.from_generator(g, output_signature=s)
d = d.batch(8)
m = tf.keras.Sequential([])
m.fit(x=d, epochs=50)
