import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
callbacks = [
    tf.keras.callbacks.TensorBoard("logs"),
    tf.keras.callbacks.ModelCheckpoint("ckpt/{epoch}.weights.h5", save_weights_only=True),  # finding
]
