import os

import tensorflow as tf

model = tf.keras.models.Sequential([tf.keras.layers.Dense(1)])
model.save(os.path.join(folder, "model"))  # finding
model.save("saved_model", save_format="tf")  # finding
model.save_weights(filepath="checkpoints/last.ckpt")  # finding
