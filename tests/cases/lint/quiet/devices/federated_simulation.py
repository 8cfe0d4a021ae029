import tensorflow as tf
def build(): return tf.keras.Sequential([tf.keras.layers.Dense(1)])
weights = None
for i in range(4):
    with tf.device(f"/gpu:{i}"):
        model = build()
        model.compile("sgd", "mse")
        model.set_weights(weights)
        model.fit(x[i], y[i])
