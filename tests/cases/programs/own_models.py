import keras
import numpy as np
import tensorflow as tf
from keras import layers

X = np.random.default_rng(0).normal(size=(100, 8)).astype("float32")
Y = (X.sum(axis=1) > 0).astype("int32")
no_function = 3


def net(units=3, compiled=True, dtype=None):
    hidden = layers.Dense(4, activation="relu", dtype=dtype)
    return finished(keras.Sequential([keras.Input((8,)), hidden, layers.Dense(units, dtype="float32")]), compiled)


def finished(model, compiled=True):
    if compiled:
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


class Features(keras.layers.Layer):
    def call(self, x):
        raise ValueError("expected nine features")


class Step(keras.Model):
    def train_step(self, data):
        raise RuntimeError("my step fails")


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(3)

    def call(self, x, training=False):
        return self.dense(x)


class Reconstruction(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(8)

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.dense(data) - data) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        return {"reconstruction": loss}


def own_step():
    model = Reconstruction()
    model.compile("adam")
    return model, tf.data.Dataset.from_tensor_slices(X).batch(10)


def samples_of(count=None):
    data = tf.data.Dataset.from_tensor_slices((X, Y))
    return data.shuffle(100).batch(count) if count else data


def raises():
    values = {}
    return values["missing"]


def exits():
    raise SystemExit(3)


def layer_raises():
    inputs = keras.Input((8,))
    return finished(keras.Model(inputs, layers.Dense(3)(Features()(inputs))))


def step_raises():
    inputs = keras.Input((8,))
    return finished(Step(inputs, layers.Dense(3)(inputs))), (X, Y)


def named_inputs():
    a, b = keras.Input((8,), name="a"), keras.Input((2,), name="b")
    return finished(keras.Model({"a": a, "b": b}, layers.Dense(3)(layers.concatenate([a, b])))), ({"a": X, "b": X[:, :2]}, Y)


compiled = net
uncompiled = lambda: net(compiled=False)
regression = lambda: (net(1, compiled=False), (X, X.sum(axis=1)))
arrays = lambda: (net(), (X, Y))
own_policy = lambda: (net(dtype="float32"), (X, Y))
low_precision = lambda: (net(dtype="mixed_bfloat16"), (X, Y))
subclass = lambda: (Net(), (X, Y))
batched = lambda: (net(), samples_of(24))
batched_by_25 = lambda: (net(), samples_of(25))
samples = lambda: (net(), samples_of())
nothing = lambda: None
texts = lambda: ("model", "data")
iterator = lambda: (net(), iter([1]))
empty = lambda: (net(), (X[:0], Y[:0]))
wrong_shape = lambda: (net(), (X[:, :5], Y))
other_lengths = lambda: (net(), (X, Y[:50]))
unknown_shape = lambda: finished(keras.Sequential([keras.Input((None, 8)), layers.Dense(3)]))
whole_numbers = lambda: finished(keras.Sequential([keras.Input((4,), dtype="int32"), layers.Embedding(9, 3)]))
