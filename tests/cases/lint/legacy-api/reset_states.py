import tensorflow as tf

train_loss = tf.keras.metrics.Mean(name="train_loss")
train_loss.reset_states()  # finding
