import keras
from keras import layers
keras.mixed_precision.set_global_policy("mixed_bfloat16")
inputs = keras.Input((8,))
weights = layers.Softmax()(layers.Dense(8)(inputs))
outputs = layers.Dense(1, dtype="float32")(layers.Multiply()([inputs, weights]))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
