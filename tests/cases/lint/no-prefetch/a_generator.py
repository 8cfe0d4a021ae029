import tensorflow as tf
m = tf.keras.Sequential([])
d = tf.data.Dataset.from_generator(gen, output_signature=s).map(f).batch(8)  # finding
m.fit(d)
