from tensorflow import keras
from tensorflow.keras import layers, mixed_precision
mixed_precision.set_global_policy(mixed_precision.Policy("mixed_bfloat16"))
i = keras.Input((4,))
x = layers.Dense(8)(i)
o = layers.Activation("softmax")(x)  # finding
model = keras.Model(inputs=i, outputs=o)
model.compile("adam", "sparse_categorical_crossentropy")
