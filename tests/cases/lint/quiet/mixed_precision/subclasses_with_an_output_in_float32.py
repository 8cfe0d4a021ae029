import tensorflow as tf
from tensorflow.keras import Model, layers, mixed_precision
mixed_precision.set_global_policy("mixed_float16")
class Wide(Model):
    def __init__(self):
        super().__init__()
        self.head = layers.Dense(10, activation="softmax", dtype="float32")
    def call(self, x):
        return self.head(x)
class Attention(Model):
    def __init__(self):
        super().__init__()
        self.scores = layers.Dense(10, activation="softmax")
        self.values = layers.Dense(10)
        self.head = layers.Dense(1)
    def call(self, x):
        x = self.scores(x) * self.values(x)
        return self.head(x)
class Cast(Model):
    def __init__(self):
        super().__init__()
        self.head = layers.Dense(10, activation="softmax")
        self.cast = layers.Activation("linear", dtype="float32")
    def call(self, x):
        return self.cast(self.head(x))
class Logits(Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(10)
        self.head = layers.Softmax()
    def call(self, x, training=False):
        x = self.dense(x)
        if training:
            return x
        return self.head(x)
wide = Wide()
wide.compile("adam", "sparse_categorical_crossentropy")
attention = Attention()
attention.compile("adam", "sparse_categorical_crossentropy")
cast = Cast()
cast.compile("adam", "sparse_categorical_crossentropy")
logits = Logits()
logits.compile("adam", "sparse_categorical_crossentropy")
