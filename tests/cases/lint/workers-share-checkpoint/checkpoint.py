import tensorflow as tf
from tensorflow import keras

strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
saver = keras.callbacks.ModelCheckpoint(filepath="/shared/best.keras", save_best_only=True)  # finding
