import tensorflow as tf
def burn(name):
    with tf.device(name):
        a, b = tf.Variable(tf.ones([9, 9])), tf.Variable(tf.ones([9, 9]))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(a @ b)
        tf.keras.optimizers.SGD().apply_gradients(zip(tape.gradient(loss, [a, b]), [a, b]))
for gpu in tf.config.list_logical_devices("GPU"):
    burn(gpu.name)
