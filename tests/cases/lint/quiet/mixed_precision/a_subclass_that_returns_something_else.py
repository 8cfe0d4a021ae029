"""What the model returns is not its own softmax layer's output, or not always."""
import keras
import heads
keras.mixed_precision.set_global_policy("mixed_float16")
class Other(keras.Model):
    def __init__(self, wide):
        super().__init__()
        self.wide = wide
        self.softmax = keras.layers.Softmax()
    def call(self, x):
        if self.wide:
            return heads.softmax(x)
        return self.softmax(x)
class Cast(keras.Model):
    def __init__(self):
        super().__init__()
        self.softmax = keras.layers.Softmax()
    def call(self, x):
        x = self.softmax(x)
        x = keras.ops.cast(x, "float32")
        return x
for model in (Other(True), Cast()):
    model.compile("adam", "sparse_categorical_crossentropy")
other, cast = Other(False), Cast()
other.compile("adam", "sparse_categorical_crossentropy")
cast.compile("adam", "sparse_categorical_crossentropy")
