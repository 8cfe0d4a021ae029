import tensorflow as tf
from tensorflow.keras.layers import Conv2D, Dense, Flatten
from tensorflow.keras.models import Sequential
model = Sequential()
model.add(Conv2D(8, 3, input_shape=(28, 28, 1)))
model.add(Flatten())
model.add(Dense(10))
for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)  # finding
