import tensorflow as tf
for i, layer in enumerate(layers):
    with tf.device(f"/gpu:{i}"):
        x = layer(x)
