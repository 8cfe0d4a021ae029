import tensorflow as tf

RATE = 1e-4
optimizers = [
    tf.keras.optimizers.RMSprop(lr=RATE),  # finding
    tf.keras.optimizers.RMSprop(learning_rate=RATE),
]
