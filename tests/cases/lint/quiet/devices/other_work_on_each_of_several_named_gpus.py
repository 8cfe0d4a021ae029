import tensorflow as tf
for name, x in zip(["/gpu:0", "/gpu:1"], batches):
    with tf.device(name):
        results.append(tf.matmul(x, x))
for name, seed in zip(["/gpu:0", "/gpu:1"], (1, 2)):
    with tf.device(name):
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        with tf.GradientTape() as tape:
            loss = loss_fn(model(x))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
