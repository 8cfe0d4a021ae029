import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, mixed_precision
mixed_precision.set_global_policy(mixed_precision.Policy("mixed_float16"))
inputs = keras.Input(shape=(784,))
x = layers.Dense(64, activation="relu")(inputs)
outputs = layers.Dense(10, activation="softmax", name="predictions")(x)
x = layers.Dense(10, name="dense_logits")(x)
outputs = layers.Activation("softmax", dtype="float32", name="predictions")(x)
outputs = layers.Activation("linear", dtype="float32")(outputs)
model = keras.Model(inputs=inputs, outputs=outputs)
model.compile(loss="sparse_categorical_crossentropy", optimizer=keras.optimizers.RMSprop())
model.fit(x_train, y_train, batch_size=8192, epochs=5)
