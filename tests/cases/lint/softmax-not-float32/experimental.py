import tensorflow as tf
from tensorflow.keras.mixed_precision import experimental as mp
mp.set_policy(mp.Policy("mixed_float16"))  # finding: legacy-api
i=tf.keras.Input((3,))
o=tf.keras.layers.Dense(3,activation="softmax")(i)  # finding
m=tf.keras.Model(i,o)
m.compile("adam","mse")
