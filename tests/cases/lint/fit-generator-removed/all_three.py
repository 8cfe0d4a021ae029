import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.fit_generator(batches)  # finding
model.evaluate_generator(batches)  # finding
model.predict_generator(batches)  # finding
