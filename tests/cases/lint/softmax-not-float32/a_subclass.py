import tensorflow as tf
from tensorflow import keras
keras.mixed_precision.set_global_policy("mixed_float16")
class Net(keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.flatten = keras.layers.Flatten()
        self.head = keras.layers.Dense(classes, activation="softmax")  # finding
    def call(self, inputs, training=False):
        x = self.flatten(inputs)
        return self.head(x)
model = Net(10)
model.compile("adam", "sparse_categorical_crossentropy")
